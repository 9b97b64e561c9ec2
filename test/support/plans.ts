import type { DatabaseSync } from 'node:sqlite'
import type pg from 'pg'

export interface Recorded {
  readonly text: string
  readonly values: readonly unknown[]
}

/** Tables that grow with use. */
export const LARGE = [
  'domains',
  'changes',
  'images',
  'blobs',
  'image_dhashes',
  'image_tags',
  'image_aliases',
  'image_bans',
  'ticket_uploads',
  'name_servers',
  'mail_servers',
  'observed_servers',
  'watch_deliveries',
  'watches',
  'watch_destinations',
  'views',
  'claims',
  'dismissed',
  'listed_names',
  'upload_tickets',
  'decisions',
]
/** Indexes that contain only the few rows that a statement wants. */
const PARTIAL = /USING (COVERING )?INDEX (watches_shared|views_shared|watch_deliveries_to_replay)$/
const EXPLAINED = /^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)\b/i

/** JSON that is parsed once for each row of a table. */
export const JSON_INSIDE = 'parsed per row'

/** Statements that want all of a table, or most of it, and the reason. */
const MAY_SCAN: readonly (readonly [RegExp, string])[] = [
  [
    /^\s*SELECT 1 AS found WHERE EXISTS \(SELECT 1 FROM domains WHERE revision = 1\)/,
    'the first row is enough',
  ],
  [
    /^\s*SELECT count\(\*\) AS count FROM \w+\s*$/,
    'a total: of the system page, kept for a while, and of `verify`',
  ],
  [/^\s*DELETE FROM changes WHERE id IN/, 'a batch may be a large share of a table that is not large itself'],
  [/^\s*SELECT name, account_id FROM claims WHERE until >/, 'a claim reads all that are held'],
  [/^\s*DELETE FROM decisions\s*$/, 'all decisions are forgotten'],
  [/^\s*SELECT count\(\*\) AS count FROM images JOIN blobs/, 'the total of a filtered list'],
  [/AS is_held,/, '`verify` reads all images anyway'],
  [/^\s*SELECT accounts\.name AS account, held\.count/, 'who holds records: all that are held'],
  [/\bFROM claims WHERE until <=/, 'a claim reads all of the table'],
  [/^\s*DELETE FROM listed_names WHERE source_id/, 'once for each list, which has much of the table'],
  [/WHERE state = 'dead' GROUP BY channel/, 'a metric, and all destinations have a notifier'],
  [/^\s*SELECT watch_id, channel FROM watch_destinations WHERE state = 'dead'/, 'the doctor, on request'],
  [/WHERE d\.state = 'active' AND watches\.paused = 0/, 'all destinations have a notifier'],
  [/WHERE feed_digest IS NOT NULL AND paused = 0/, 'all feeds are followed'],
  [
    /^\s*SELECT id FROM watches WHERE EXISTS \(SELECT 1 FROM accounts/,
    'the first row of the service is enough',
  ],
  [/FROM watches WHERE previous_secret_until <=/, 'a regular job, and an account has at most 50 watches'],
  [/FROM watches WHERE filters LIKE/, 'a filter has no index, and an account has at most 50 watches'],
  [/^\s*SELECT count\(\*\) AS images, .* FROM blobs\s*$/, 'the same of the bytes of images'],
]

export const mayScan = (text: string): boolean => MAY_SCAN.some(([pattern]) => pattern.test(text))

/** The large table of a name in a plan. */
function tableOf(text: string, name: string): string | undefined {
  if (LARGE.includes(name)) return name
  const [, table] = new RegExp(`\\b(${LARGE.join('|')}) AS ${name}\\b`, 'i').exec(text) ?? []
  return table
}

/** A page of rows in the order of an index ends with its LIMIT. */
const isPage = (text: string, isSorted: boolean) => /\bLIMIT\b/.test(text) && !isSorted

/** The steps of SQLite's plan that go through a large table, or that parse JSON within the loop over one. */
export function scansOfSqlite(database: DatabaseSync, { text }: Recorded): string[] {
  if (!EXPLAINED.test(text)) return []
  const steps = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all()
  const found: string[] = []
  const isSorted = steps.some(({ detail }) => /TEMP B-TREE FOR ORDER BY/.test(String(detail)))
  const loops = new Set<unknown>()
  for (const { parent, detail } of steps) {
    const [, kind, name = ''] = /^(SCAN|SEARCH) (\S+)/.exec(String(detail)) ?? []
    if (kind === undefined) continue
    if (/VIRTUAL TABLE/.test(String(detail))) {
      if (loops.has(parent)) found.push(`${String(detail)} ${JSON_INSIDE}`)
      continue
    }
    if (tableOf(text, name) === undefined) continue
    loops.add(parent)
    if (kind === 'SCAN' && !isPage(text, isSorted) && !PARTIAL.test(String(detail)))
      found.push(String(detail))
  }
  return found
}

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly PlanNode[]
}

/**
 * The same of PostgreSQL. Without statistics, which a server makes within a minute, one pass over a table is the planner's
 * guess; only one that is repeated for each row of another counts.
 */
export async function scansOfPostgres(
  client: pg.Client,
  { text, values }: Recorded,
  hasStatistics: boolean,
): Promise<string[]> {
  if (!EXPLAINED.test(text)) return []
  const [statement = ''] = text.split(';')
  const { rows } = await client.query<{ 'QUERY PLAN': readonly { readonly Plan: PlanNode }[] }>({
    text: `EXPLAIN (FORMAT JSON) ${statement}`,
    values: [...values],
  })
  const found: string[] = []
  const visit = (node: PlanNode, isRepeated: boolean) => {
    const table = node['Relation Name']
    if (
      node['Node Type'] === 'Seq Scan' &&
      table !== undefined &&
      LARGE.includes(table) &&
      (hasStatistics || isRepeated)
    )
      found.push(`Seq Scan on ${table}`)
    const isLoop = node['Node Type'] === 'Nested Loop'
    for (const [i, part] of (node.Plans ?? []).entries())
      visit(part, (isRepeated || (isLoop && i > 0)) && part['Node Type'] !== 'Materialize')
  }
  for (const { Plan } of rows[0]?.['QUERY PLAN'] ?? []) visit(Plan, false)
  return found
}
