import { sql } from '#server/platform/sql.ts';
import { oncePerFile } from './file-end.ts';

/**
 * Makes every insert of a row with this value in a column fail, until released. The trigger is made once for a file and asks a table: to make it for each
 * test would have every connection plan its statements anew.
 */
export async function refuseInserts(table: string, column: string, value: string): Promise<() => Promise<void>> {
  await triggerOn(table, column);
  const row = [table, column, value];
  await sql().query('insert into testing.refused values ($1, $2, $3)', row);
  return async () => void (await sql().query('delete from testing.refused where table_name = $1 and column_name = $2 and value = $3', row));
}

const triggers = oncePerFile(() => new Map<string, Promise<void>>());

async function triggerOn(table: string, column: string): Promise<void> {
  const key = `${table}.${column}`;
  const made = triggers().get(key) ?? create(table, column);
  triggers().set(key, made);
  await made;
}

async function create(table: string, column: string): Promise<void> {
  // Together with other files too: rows of theirs are not in the table.
  await sql().query(`begin; set local session_replication_role = replica;
    create schema if not exists testing;
    create table if not exists testing.refused (table_name text, column_name text, value text);
    create or replace function testing.refuse() returns trigger language plpgsql security definer as $$ begin
      if exists (select from testing.refused where table_name = tg_table_name and column_name = tg_argv[0] and value = to_jsonb(new) ->> tg_argv[0])
        then raise exception '% takes no row', tg_table_name; end if;
      return new;
    end $$;
    create or replace trigger refuse_${column} before insert on ${table} for each row execute function testing.refuse('${column}'); commit`);
}
