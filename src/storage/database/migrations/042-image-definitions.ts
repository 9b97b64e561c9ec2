const table = (text: string, options: string) => `
    CREATE TABLE image_definitions (
      kind ${text} NOT NULL,
      name ${text} NOT NULL,
      value ${text} NOT NULL,
      PRIMARY KEY (kind, name)
    ) ${options};
`

/** Presets and watermarks that administrators define while the service runs: modifiers, or JSON. */
export const imageDefinitions = {
  version: 42,
  sqlite: table('TEXT', 'STRICT, WITHOUT ROWID'),
  postgres: table('text COLLATE "C"', ''),
}
