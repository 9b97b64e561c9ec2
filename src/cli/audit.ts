import { userInfo } from 'node:os'
import { openAudit } from '../http/auth/audit.ts'
import type { AuditAction, AuditEntry } from '../http/auth/queries.ts'
import { systemClock } from '../lib/clock.ts'
import { openDatabase } from '../storage/database/open.ts'
import type { Database } from '../storage/database/database.ts'
import type { Options } from './command.ts'
import { printAll } from './output.ts'

/** Entries read at a time. */
const PART = 1_000
const HEAD = ['time', 'account', 'key', 'action', 'subject']

/** `catalejo audit`: prints who did what, the latest first, in columns separated by tabs. Works while the service runs. */
export async function printAudit({ config, own }: Options): Promise<void> {
  await using database = await openDatabase(config, { existing: true })
  await printAll(allEntries(database, own['account']))
}

async function* allEntries(database: Database, account: string | undefined): AsyncGenerator<string> {
  const audit = openAudit(database, systemClock)
  yield `${HEAD.join('\t')}\n`
  for (let after: AuditEntry | undefined; ;) {
    const entries = await audit.page(PART, after, account)
    yield entries.map(toLine).join('')
    after = entries.at(-1)
    if (after === undefined || entries.length < PART) return
  }
}

function toLine({ at, actor, key_id, action, subject }: AuditEntry): string {
  return `${[new Date(at).toISOString(), actor, key_id ?? '-', action, subject].join('\t')}\n`
}

/** Records an action of the user who runs the command. One without a name, as in some containers, is known by number. */
export async function record(database: Database, action: AuditAction, subject: string): Promise<void> {
  await openAudit(database, systemClock).record(
    { account: `cli:${userName()}`, keyId: null },
    action,
    subject,
  )
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
