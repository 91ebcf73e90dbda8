-- What waits for somebody is looked up more often than requests are opened: every look would read
-- the entries that the index has put off, and the planner would sooner read all that is open.

alter index sayso.items_asking set (fastupdate = off);
select gin_clean_pending_list('sayso.items_asking');
