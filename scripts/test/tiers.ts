/**
 * The one definition of which test file belongs to which tier: by folder, except for the files listed here. Every test
 * file belongs to exactly one tier; some of the default tier run again on PostgreSQL.
 */
import { globSync } from 'node:fs'
import { noBalancer } from '../../test/support/balancer.ts'
import { noCeph } from '../../test/support/ceph.ts'
import { CONTRACT } from '../../test/two-nodes/contract.ts'

export const TIERS = ['default', 'postgres', 'browser', 'faults', 'cluster'] as const
export type Tier = (typeof TIERS)[number]

const FOLDERS: Readonly<Record<Tier, readonly string[]>> = {
  // Every feature through the public door, on SQLite and local files, and the unit tests.
  default: [
    'src/',
    'console/',
    'test/admin/',
    'test/cli/',
    'test/clients/',
    'test/contracts/',
    'test/corpus/',
    'test/deploy/',
    'test/dns/',
    'test/domainwatch/',
    'test/http/',
    'test/imagestore/',
    'test/keys/',
    'test/transfer/',
    'test/tooling/',
    'test/integrity/',
  ],
  postgres: ['test/postgres/'],
  browser: ['test/console/'],
  // Killed processes, lost power, full disks, damaged and missing data, overload, servers and object stores in trouble, upgrades.
  faults: ['test/durability/', 'test/s3/', 'test/upgrades/'],
  // Several nodes or processes, with and without a balancer, and reverse proxies.
  cluster: ['test/nodes/', 'test/two-nodes/'],
}

/** Files whose tier is not their folder's. */
const EXCEPTIONS: Readonly<Record<string, Tier>> = {
  'src/imagestore/decoder/index.test.ts': 'faults',
  'test/cli/images-killed.test.ts': 'faults',
  'test/cli/unusable-database.test.ts': 'faults',
  'test/cli/verify-damaged.test.ts': 'faults',
  'test/cli/workers.test.ts': 'cluster',
  'test/contracts/changes-postgres.test.ts': 'postgres',
  'test/contracts/postgres.test.ts': 'postgres',
  'test/deploy/balancer.test.ts': 'cluster',
  'test/deploy/proxies.test.ts': 'cluster',
  'test/durability/all-plans.test.ts': 'postgres',
  'test/durability/pgbouncer.test.ts': 'postgres',
  'test/durability/postgres-start.test.ts': 'postgres',
  'test/durability/postgres-transactions.test.ts': 'postgres',
  'test/durability/sqlite-erased.test.ts': 'default',
  'test/http/crowds.test.ts': 'faults',
  'test/http/keyless-bodies.test.ts': 'faults',
  'test/http/slow-readers.test.ts': 'faults',
  'test/imagestore/fair-turns.test.ts': 'faults',
  'test/imagestore/link-in-browser.test.ts': 'browser',
  'test/transfer/backup-damage.test.ts': 'faults',
  'test/transfer/hostile-backup.test.ts': 'faults',
  'test/transfer/s3.test.ts': 'faults',
  'test/upgrades/migrations.test.ts': 'default',
}

/** Folders whose tests a database has a part in: their files of the default tier run once more on PostgreSQL. */
const ON_BOTH_DATABASES = ['admin', 'corpus', 'domainwatch', 'imagestore', 'keys', 'integrity']
/**
 * Files of those folders that stay on SQLite: what they assert is computed by the list index, a gate in memory, the decoder, a
 * parser or another server. That the database stores, reads and claims the records is what other files assert.
 */
const ON_ONE_DATABASE = Object.entries({
  corpus: 'campaigns registrations',
  domainwatch:
    'campaigns cursor dns dns-fairness dns-types events-atom events-readers ' +
    'feeds-hostile filter-table filters hostile-members import-sources last list-orders list-scans similar stats ' +
    'watches-channels watches-email watches-fairness watches-language watches-mail-limits words',
  imagestore:
    'bmp-heic bombs corpus derivative-cache eager hostile-containers link-addresses link-cached link-colours link-grammar ' +
    'link-metadata link-modifiers link-negotiation link-originals strip svg tables upload-requests watermarks',
  keys: 'failed-keys rate scopes',
}).flatMap(([folder, names]) => names.split(' ').map((name) => `test/${folder}/${name}.test.ts`))
/**
 * Files of several nodes that run on PostgreSQL alone: their work is held by leases, claimed and followed, which the others of
 * their folder and the contract of databases assert on both.
 */
const NODES_ON_POSTGRES = ['digests', 'feeds', 'idle-stream', 'rechecks', 'watches'].map(
  (name) => `test/nodes/${name}.test.ts`,
)
/** Files of the contract of which nodes skip tests that PostgreSQL has a part in. */
const CONTRACT_ON_ONE_NODE = ['domainwatch/events', 'imagestore/similar', 'imagestore/trash'].map(
  (name) => `test/${name}.test.ts`,
)
/** Files of which only some tests need PostgreSQL: they are skipped in the default tier. */
const PARTLY_POSTGRES = ['test/transfer/migrate.test.ts']

/** Where the tests are written that are skipped unless `test/s3/ceph.test.ts` runs them with its object store. */
export const RUN_BY_CEPH = [
  'test/contracts/blob-store.ts',
  'test/transfer/s3.test.ts',
  'test/s3/gateway.test.ts',
]

/** Whether there is what two nodes need. */
const hasTwoNodes = (noCeph || noBalancer) === false

/** What one tier runs, on one database. */
export interface Pass {
  readonly name: string
  readonly files: readonly string[]
  readonly database: 'sqlite' | 'postgres'
  /** Whether a PostgreSQL server has to be there. */
  readonly needsPostgres: boolean
  /** Whether the service of each test is two nodes behind a balancer, over PostgreSQL and an object store. */
  readonly onTwoNodes: boolean
  /** Processes at the same time. */
  readonly concurrency: number
  /** Whether its temporary files may be in memory. Those that break disks need some. */
  readonly isInMemory: boolean
  /** Whether several files may run in one process. */
  readonly sharesProcesses: boolean
}

/** One of these started last would be waited for alone. */
export const LONGEST = [
  'test/two-nodes/two-nodes.test.ts',
  'test/durability/all-plans.test.ts',
  'test/contracts/postgres.test.ts',
  'test/transfer/regular-backups.test.ts',
  'test/cli/breakages.test.ts',
  'test/deploy/proxies.test.ts',
  'test/cli/serve.test.ts',
  'test/cli/doctor.test.ts',
  'test/transfer/backup.test.ts',
  'test/transfer/migrate.test.ts',
  'test/cli/images.test.ts',
  'test/cli/examples.test.ts',
  'test/s3/ceph.test.ts',
  'test/durability/kill.test.ts',
  'test/durability/postgres-outage.test.ts',
  'test/durability/readiness.test.ts',
  'test/imagestore/fair-turns.test.ts',
  'test/deploy/balancer.test.ts',
  'test/nodes/rechecks.test.ts',
]

export function testFiles(): string[] {
  const found = globSync('{src,console,test}/**/*.test.{ts,tsx}', {
    exclude: (name) => name === 'node_modules',
  })
  return found.toSorted()
}

/** The tier of each file. @throws when a file belongs to no tier or to several, or a file that is named here does not exist */
export function getTiers(files: readonly string[]): ReadonlyMap<string, Tier> {
  const lists = [PARTLY_POSTGRES, ON_ONE_DATABASE, NODES_ON_POSTGRES, CONTRACT_ON_ONE_NODE, LONGEST, CONTRACT]
  const named = [...Object.keys(EXCEPTIONS), ...lists.flat()]
  const gone = named.filter((file) => !files.includes(file))
  if (gone.length > 0) throw new Error(`lists of test files name some that do not exist: ${gone.join(', ')}`)
  return new Map(files.map((file) => [file, getTier(file)]))
}

function getTier(file: string): Tier {
  const exception = EXCEPTIONS[file]
  if (exception !== undefined) return exception
  const tiers = TIERS.filter((tier) => FOLDERS[tier].some((folder) => file.startsWith(folder)))
  const [tier] = tiers
  if (tier === undefined)
    throw new Error(`${file} belongs to no tier: add its folder to scripts/test/tiers.ts`)
  if (tiers.length > 1) throw new Error(`${file} belongs to several tiers: ${tiers.join(', ')}`)
  return tier
}

/** The passes of a tier over those of its files that are wanted. */
export function getPasses(tier: Tier, isWanted: (file: string) => boolean): Pass[] {
  const tiers = getTiers(testFiles())
  const ofTier = (wanted: Tier) =>
    longestFirst([...tiers.keys()].filter((file) => tiers.get(file) === wanted))
  const own = ofTier(tier).filter(isWanted)
  const again = (isAgain: (file: string) => boolean) =>
    ofTier('default').filter((file) => isWanted(file) && isAgain(file))
  const sqlite = { database: 'sqlite', needsPostgres: false, onTwoNodes: false } as const
  const postgres = { database: 'postgres', needsPostgres: true, onTwoNodes: false } as const
  // Some of their tests wait for a server, a browser or a deadline: more processes use the two processors meanwhile.
  const quiet = { concurrency: 4, isInMemory: true, sharesProcesses: true } as const
  // These files break things, and count what is left open. Much of their time is waiting for faults to begin, to be noticed and to end.
  const waiting = { concurrency: 3, isInMemory: false, sharesProcesses: false } as const
  const passes: Record<Tier, () => Pass[]> = {
    default: () => [{ ...sqlite, ...quiet, name: 'default', files: own }],
    postgres: () => {
      const files = [...own, ...again(runsAgainOnPostgres)]
      // The server has work of its own.
      return [{ ...postgres, ...quiet, concurrency: 3, name: 'on PostgreSQL', files }]
    },
    browser: () => [{ ...sqlite, ...quiet, concurrency: 3, name: 'browser', files: own }],
    faults: () => [{ ...sqlite, ...waiting, name: 'faults', needsPostgres: true, files: own }],
    cluster: () => [
      {
        ...sqlite,
        ...waiting,
        name: 'cluster',
        needsPostgres: true,
        files: own.filter((file) => !NODES_ON_POSTGRES.includes(file)),
      },
      {
        ...postgres,
        ...waiting,
        name: 'cluster on PostgreSQL',
        files: own.filter((file) => file.startsWith('test/nodes/')),
      },
      {
        ...postgres,
        ...waiting,
        name: 'the contract on two nodes',
        onTwoNodes: true,
        files: hasTwoNodes ? again((file) => CONTRACT.includes(file)) : [],
      },
    ],
  }
  return passes[tier]().filter(({ files }) => files.length > 0)
}

/**
 * Whether a file of the default tier runs on PostgreSQL as well: one of a folder in which the database has a part, unless it is
 * listed above, or runs on two nodes over PostgreSQL.
 */
function runsAgainOnPostgres(file: string): boolean {
  if (PARTLY_POSTGRES.includes(file)) return true
  if (ON_ONE_DATABASE.includes(file)) return false
  if (hasTwoNodes && CONTRACT.includes(file) && !CONTRACT_ON_ONE_NODE.includes(file)) return false
  return ON_BOTH_DATABASES.some((folder) => file.startsWith(`test/${folder}/`))
}

function longestFirst(files: readonly string[]): string[] {
  return files.toSorted((a, b) => Number(LONGEST.includes(b)) - Number(LONGEST.includes(a)))
}
