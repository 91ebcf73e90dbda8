"""Running graphs and pausing for people: threads, mailbox, reviews and votes. No Slack in here.

Read it in the order of a thread's life:

    specs, registry      what is configured, and the loaded graph behind each name
    threads, messages    one life of a graph; start, say, and the status computed from the rows
    mailbox              what waits to be fed
    runner               claims, heartbeats, drain; `loops` keeps graphs off our own loop
    ownership, orders    one thread in its owner's hands, and what is read before it is played
    plays, feeding       read the state, decide what to feed, run until it rests; `states` reads
    settling             where it rests becomes rows, in one transaction that starts with the fence
    reviews, votes       what is asked, who says what, and what that decides
    policy               who may
    interventions        cancel, withdraw, try again
    questions, templates, answers, decisions
                         a question in words, whether an answer fits, what a node is told
    documents            the files that came with a message
    steps, routings, progress, history, audit
                         what happened, for people
    ports                what graphs/ needs from the house above it

Two notes on the design. An item's rule, votes and outcome have their own table from the start, one
row for each review until batched tool calls come. A message that is no turn of a chat is kept in
the mailbox as consumed: it stays with the record and is never fed.
"""
