/**
 * Records that accounts have claimed from the queue, until a time in milliseconds since 1970. Triggers instead of foreign
 * keys remove claims, because a foreign key locks the rows of the account and the domain for each claim.
 */
const tables = (integer: string, text: string, options: string) => `
    CREATE TABLE claims (
      name ${text} PRIMARY KEY,
      account_id ${integer} NOT NULL,
      until ${integer} NOT NULL
    ) ${options};
    CREATE INDEX claims_by_account ON claims (account_id, until);
    CREATE INDEX claims_by_end ON claims (until);`

const sqlite = `${tables('INTEGER', 'TEXT', 'STRICT, WITHOUT ROWID')}

    CREATE TRIGGER claims_of_deleted_domains AFTER DELETE ON domains BEGIN
      DELETE FROM claims WHERE name = OLD.name;
    END;
    CREATE TRIGGER claims_of_deleted_accounts AFTER DELETE ON accounts BEGIN
      DELETE FROM claims WHERE account_id = OLD.id;
    END;
`

const triggerFunction = (name: string, condition: string) => `
    CREATE FUNCTION catalejo_${name}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM claims WHERE ${condition};
      RETURN NULL;
    END $$;`

const postgres = `${tables('bigint', 'text COLLATE "C"', '')}
    ${triggerFunction('domains_unclaimed', 'name IN (SELECT name FROM was)')}
    ${triggerFunction('accounts_unclaimed', 'account_id = OLD.id')}
    CREATE TRIGGER claims_of_deleted_domains AFTER DELETE ON domains
      REFERENCING OLD TABLE AS was FOR EACH STATEMENT EXECUTE FUNCTION catalejo_domains_unclaimed();
    CREATE TRIGGER claims_of_deleted_accounts AFTER DELETE ON accounts
      FOR EACH ROW EXECUTE FUNCTION catalejo_accounts_unclaimed();
`

export const claims = { version: 15, sqlite, postgres }
