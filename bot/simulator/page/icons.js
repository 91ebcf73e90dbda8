// Small drawings, so that the page needs neither an icon font nor an emoji font.

const SVG = "http://www.w3.org/2000/svg";

function svg(box, parts, className) {
  const root = document.createElementNS(SVG, "svg");
  root.setAttribute("viewBox", box);
  root.setAttribute("class", className);
  root.setAttribute("aria-hidden", "true");
  root.setAttribute("focusable", "false");
  for (const [tag, attributes] of parts) {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    root.append(node);
  }
  return root;
}

const line = (d, more = {}) => ["path", { d, fill: "none", stroke: "currentColor", "stroke-width": "1.8", "stroke-linecap": "round", "stroke-linejoin": "round", ...more }];

const ICONS = {
  bank: [line("M3.5 8.5L12 4l8.5 4.5zM5 19.5h14M6.5 11.5v5.500M10.200 11.500v5.500M13.800 11.500v5.500M17.500 11.500v5.500")],
  hash: [line("M9.500 4L7.500 20M16.500 4l-2 16M4.500 9h16M3.500 15h16")],
  home: [line("M4 11l8-6.500 8 6.500v8.500h-5.500v-5h-5v5H4z")],
  guide: [line("M4 6.500l1.500 1.500L8 5.500M4 12.500l1.500 1.500L8 11.500M4 18.500l1.500 1.500L8 17.500M11.500 6.700h8.500M11.500 12.700h8.500M11.500 18.700h8.500")],
  close: [line("M6 6l12 12M18 6L6 18")],
  plus: [line("M12 5v14M5 12h14")],
  more: [["circle", { cx: 5.5, cy: 12, r: 1.9, fill: "currentColor" }], ["circle", { cx: 12, cy: 12, r: 1.9, fill: "currentColor" }], ["circle", { cx: 18.5, cy: 12, r: 1.9, fill: "currentColor" }]],
  down: [line("M6 9.500l6 6 6-6", { "stroke-width": "2.4" })],
  back: [line("M14.500 5.500L8 12l6.500 6.500")],
  reply: [line("M10 6L4.500 11l5.500 5M5 11h9a5.500 5.500 0 0 1 5.500 5.500V18")],
  pen: [line("M5 19l1-4L16 5l3 3L9 18z")],
  bin: [line("M5 7h14M9.500 7V4.500h5V7M7 7l1 12.500h8L17 7")],
  warning: [line("M12 4L2.800 19.500h18.400zM12 10v4.500M12 17.200v.100")],
  file: [line("M7 3.500h7l4.500 4.500v12.500H7zM14 3.500V8h4.500")],
  dot: [["circle", { cx: 12, cy: 12, r: 3.2, fill: "currentColor" }]],
};

/** An outline icon in the colour of the text around it. */
export function icon(name, className = "icon") {
  return svg("0 0 24 24", ICONS[name], className);
}

/** The mark of the app itself: the tick of a person's say-so. */
export function appMark(className) {
  return svg("0 0 36 36", [
    ["rect", { width: 36, height: 36, rx: 9, fill: "#12363c" }],
    ["path", { d: "M10 18.500l5.600 5.600L27 12.400", fill: "none", stroke: "#f2c14e", "stroke-width": 4, "stroke-linecap": "round", "stroke-linejoin": "round" }],
  ], className);
}

const white = (d, width = 2.4) => ["path", { d, fill: "none", stroke: "#fff", "stroke-width": width, "stroke-linecap": "round", "stroke-linejoin": "round" }];
const tile = (fill) => ["rect", { x: 1.5, y: 1.500, width: 21, height: 21, rx: 4.500, fill }];

// The marks of the status line, drawn the way Slack's emoji look; their shapes differ.
const MARKS = {
  hourglass_flowing_sand: [
    ["path", { d: "M6.500 3.500h11v2.800c0 2.700-3.700 4-3.700 5.700s3.700 3 3.700 5.700v2.800h-11v-2.800c0-2.700 3.700-4 3.700-5.700S6.500 9 6.500 6.300z", fill: "#fdf1d3", stroke: "#8a6a2f", "stroke-width": 1.500 }],
    ["path", { d: "M8.700 7.500h6.600L12 11zM7.900 19.300c.200-2.400 2.500-3.200 4.100-4.400 1.600 1.200 3.900 2 4.100 4.400z", fill: "#e0a526" }],
    ["path", { d: "M5 3h14M5 21h14", stroke: "#8a5a1c", "stroke-width": 2.600, "stroke-linecap": "round" }],
  ],
  alarm_clock: [
    ["path", { d: "M4 7.500L7.500 4.300M20 7.500l-3.500-3.200M7 19l-1.800 2.200M17 19l1.800 2.200", stroke: "#c8243b", "stroke-width": 2.600, "stroke-linecap": "round", fill: "none" }],
    ["circle", { cx: 12, cy: 13, r: 7.600, fill: "#fff", stroke: "#c8243b", "stroke-width": 2.200 }],
    ["path", { d: "M12 8.800V13l2.800 2", fill: "none", stroke: "#1d1c1d", "stroke-width": 1.800, "stroke-linecap": "round" }],
  ],
  arrow_forward: [tile("#2f7fc1"), ["path", { d: "M9 7l8.500 5L9 17z", fill: "#fff" }]],
  double_vertical_bar: [tile("#2f7fc1"), white("M9 7.500v9M15 7.500v9", 3.200)],
  leftwards_arrow_with_hook: [tile("#2f7fc1"), white("M9.500 6.500L6 10l3.500 3.500M6.500 10h7.500a3.700 3.700 0 0 1 0 7.400h-2.500", 2.200)],
  black_square_for_stop: [tile("#4b5a5e"), ["rect", { x: 7.500, y: 7.500, width: 9, height: 9, rx: 1, fill: "#fff" }]],
  white_check_mark: [tile("#0a7a56"), white("M6.800 12.500l3.600 3.600 7-7.600", 2.900)],
  x: [["path", { d: "M5.500 5.500l13 13M18.500 5.500l-13 13", stroke: "#c8243b", "stroke-width": 4, "stroke-linecap": "round", fill: "none" }]],
  warning: [
    ["path", { d: "M12 2.800L1.900 20.500h20.200z", fill: "#f2b632", stroke: "#b67d12", "stroke-width": 1.200, "stroke-linejoin": "round" }],
    ["path", { d: "M12 9v5.500M12 17.400v.200", stroke: "#1d1c1d", "stroke-width": 2.200, "stroke-linecap": "round" }],
  ],
};

/** The drawn mark of an emoji name, or null when we have no drawing of it. */
export function drawnMark(name) {
  return MARKS[name] ? svg("0 0 24 24", MARKS[name], "mark") : null;
}
