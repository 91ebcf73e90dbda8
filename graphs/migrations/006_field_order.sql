-- A form has its fields in the order in which the schema names them, and jsonb keeps none.

alter table sayso.reviews
  alter column schema type json using schema::json;

alter table sayso.items
  alter column schema type json using schema::json;
