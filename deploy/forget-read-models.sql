-- Forgets every read model, so that the projectors build them anew from the log. While no process of Palimpsest runs:
--   psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -1 -f deploy/forget-read-models.sql
-- They must go where a log came back from a backup: a checkpoint beyond its end would make a projector wait, and skip what comes meanwhile.
drop schema if exists read cascade;
delete from ops.migrations where name like 'read/%';
