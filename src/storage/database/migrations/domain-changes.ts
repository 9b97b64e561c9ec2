/** The triggers that write the changes of domains. Migrations that add columns to changes create them again. */

const NOW = `CAST(unixepoch('subsec') * 1000 AS INTEGER)`
const AUTHOR = '(SELECT author FROM change_log)'

const toKind = (was: string, is: string) =>
  `CASE WHEN ${was}.discarded_at IS NULL AND ${is}.discarded_at IS NOT NULL THEN 'discarded' ELSE 'changed' END`

const change = (values: string) =>
  `INSERT INTO changes (at, topic, kind, key, account_id, before, after) VALUES (${NOW}, 'domain', ${values})`

/** What the triggers of one engine do besides: further statements, and the author of an update. */
export interface TriggerParts {
  readonly afterInsert?: string
  readonly authorOfUpdate?: (author: string) => string
  readonly beforeDelete?: string
}

const fieldsOf =
  (columns: readonly string[]) =>
  (row: string): string =>
    columns.map((column) => `${row}.${column}`).join(', ')

/** @param columns those that changes hold, in their order */
export function sqliteTriggers(columns: readonly string[], parts: TriggerParts = {}): string {
  const { afterInsert = '', authorOfUpdate = (author) => author, beforeDelete = '' } = parts
  const domain = fieldsOf(columns)
  return `
    CREATE TRIGGER domains_added AFTER INSERT ON domains BEGIN
      ${change(`'added', NEW.name, ${AUTHOR}, NULL, json_array(${domain('NEW')})`)};${afterInsert}
    END;
    CREATE TRIGGER domains_changed AFTER UPDATE ON domains
    WHEN (${domain('OLD')}) IS NOT (${domain('NEW')}) BEGIN
      ${change(`${toKind('OLD', 'NEW')}, NEW.name, ${authorOfUpdate(AUTHOR)}, json_array(${domain('OLD')}), json_array(${domain('NEW')})`)};
    END;
    -- A discarded record expires, so its deletion has no author, whoever writes when it happens.
    CREATE TRIGGER domains_deleted AFTER DELETE ON domains BEGIN${beforeDelete}
      ${change(`'deleted', OLD.name, CASE WHEN OLD.discarded_at IS NULL THEN ${AUTHOR} END, json_array(${domain('OLD')}), NULL`)};
    END;
`
}

const triggerFunction = (name: string, body: string, settings = '') => `
    CREATE OR REPLACE FUNCTION catalejo_${name}() RETURNS trigger LANGUAGE plpgsql ${settings} AS $$
    DECLARE author bigint := catalejo_author();
    BEGIN${body}
      RETURN NULL;
    END $$;`

export function postgresTriggers(columns: readonly string[], parts: TriggerParts = {}): string {
  const { afterInsert = '', authorOfUpdate = (author) => author, beforeDelete = '' } = parts
  const domain = fieldsOf(columns)
  return `
    ${triggerFunction(
      'domains_added',
      `
      INSERT INTO changes (topic, kind, key, account_id, after)
      SELECT 'domain', 'added', new_row.name, author, json_build_array(${domain('new_row')})::text FROM added AS new_row;${afterInsert}`,
    )}
    -- The plan is cached, perhaps from a single row: a nested loop would match 50,000 rows against each other.
    ${triggerFunction(
      'domains_changed',
      `
      INSERT INTO changes (topic, kind, key, account_id, before, after)
      SELECT 'domain', ${toKind('old_row', 'new_row')}, new_row.name, ${authorOfUpdate('author')},
        json_build_array(${domain('old_row')})::text, json_build_array(${domain('new_row')})::text
      FROM was AS old_row JOIN now_is AS new_row ON old_row.name = new_row.name
      WHERE (${domain('old_row')}) IS DISTINCT FROM (${domain('new_row')});`,
      'SET enable_nestloop = off',
    )}
    ${triggerFunction(
      'domains_deleted',
      `${beforeDelete}
      INSERT INTO changes (topic, kind, key, account_id, before)
      SELECT 'domain', 'deleted', old_row.name, CASE WHEN old_row.discarded_at IS NULL THEN author END,
        json_build_array(${domain('old_row')})::text
      FROM was AS old_row;`,
    )}
`
}
