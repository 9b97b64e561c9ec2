/**
 * The words of each name, with a space before and after each (` casa venta `), and by which dictionary all names were split.
 * A column without a default rewrites no table; a background job fills it.
 */
const sqlite = `
    ALTER TABLE domains ADD COLUMN words TEXT;
    CREATE TABLE name_splits (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), digest TEXT NOT NULL) STRICT;
`

const postgres = `
    ALTER TABLE domains ADD COLUMN words text COLLATE "C";
    CREATE TABLE name_splits (only_row integer PRIMARY KEY CHECK (only_row = 1), digest text COLLATE "C" NOT NULL);
`

export const words = { version: 18, sqlite, postgres }
