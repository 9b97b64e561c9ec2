const insert = (at: string) => `INSERT INTO changes (${at}topic, kind, key, account_id, before, after)`
const sqlite = (before: string, after: string, row: 'NEW' | 'OLD') => `
      ${insert('at, ')}
      VALUES (CAST(unixepoch('subsec') * 1000 AS INTEGER), 'alias', 'changed', ${row}.name, ${row}.account_id, ${before}, ${after});`
const postgres = (before: string, after: string, row: 'NEW' | 'OLD') => `
        ${insert('')}
        VALUES ('alias', 'changed', ${row}.name, ${row}.account_id, ${before}, ${after});`

/** Hooks of applications are watches, and follow the change log: aliases are written there from now on. */
export const imageHooks = {
  version: 43,
  sqlite: `
    CREATE TRIGGER image_aliases_set AFTER INSERT ON image_aliases BEGIN${sqlite('NULL', 'json_array(NEW.hash)', 'NEW')}
    END;
    CREATE TRIGGER image_aliases_set_again AFTER UPDATE OF hash ON image_aliases WHEN NEW.hash <> OLD.hash
    BEGIN${sqlite('json_array(OLD.hash)', 'json_array(NEW.hash)', 'NEW')}
    END;
    CREATE TRIGGER image_aliases_removed AFTER DELETE ON image_aliases BEGIN${sqlite('json_array(OLD.hash)', 'NULL', 'OLD')}
    END;
`,
  postgres: `
    CREATE FUNCTION catalejo_image_alias_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'DELETE' THEN${postgres('json_build_array(OLD.hash)::text', 'NULL', 'OLD')}
      ELSIF TG_OP = 'INSERT' THEN${postgres('NULL', 'json_build_array(NEW.hash)::text', 'NEW')}
      ELSIF NEW.hash <> OLD.hash THEN${postgres('json_build_array(OLD.hash)::text', 'json_build_array(NEW.hash)::text', 'NEW')}
      END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER image_alias_changed AFTER INSERT OR UPDATE OR DELETE ON image_aliases
      FOR EACH ROW EXECUTE FUNCTION catalejo_image_alias_changed();
`,
}
