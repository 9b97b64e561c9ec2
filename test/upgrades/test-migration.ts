import { migrations, SCHEMA, type Migration } from '../../src/storage/database/migrations/index.ts'

/** The version that the test migration leads to. */
export const NEXT = SCHEMA + 1

const STATEMENTS = `
  CREATE TABLE next_release (id INTEGER PRIMARY KEY);
  ALTER TABLE domains ADD COLUMN next_release INTEGER NOT NULL DEFAULT 7;
  INSERT INTO next_release VALUES (1);`

/** The schema's steps and one more, as in the next release. @param end statements at its end */
export const withTestMigration = (end = ''): readonly Migration[] => [
  ...migrations,
  { version: NEXT, sqlite: STATEMENTS + end, postgres: STATEMENTS + end },
]
