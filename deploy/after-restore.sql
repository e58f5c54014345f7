-- To be run before any process of Palimpsest starts on a log that came back from a backup:
--   psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -1 -f deploy/after-restore.sql
-- What followed the log may have been further than the log that came back now reaches. It would wait there, and skip all that comes meanwhile.

-- The projectors build every read model anew. By itself this is also how read models are thrown away.
do $$
declare name text;
begin
  if to_regclass('read.generations') is not null then
    for name in select schema from read.generations loop
      execute format('drop schema if exists %I cascade', name);
    end loop;
  end if;
end $$;
drop schema if exists read cascade;
delete from ops.migrations where name like 'read/%';

-- Every key that the log says was destroyed is destroyed again.
delete from ops.checkpoints;
