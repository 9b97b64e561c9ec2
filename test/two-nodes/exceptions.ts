/**
 * Tests of the contract that cannot hold for two nodes behind a balancer, and why. Any other one must, and one of these
 * that passes must be taken off. Tests that look into the process of the service need no line here: it tells them that
 * they cannot (`InProcessOnly`), and they are counted.
 */
const BALANCER = 'the balancer itself answers what is no HTTP, and no node sees it'

/** File, name of the test, reason. */
export const EXCEPTIONS: readonly (readonly [string, string, string])[] = [
  [
    'imagestore/edited-keys.test.ts',
    'verify reports such a key, and a backup omits its bytes',
    'it starts a service of its own on SQLite and files',
  ],
  ['http/private-answers.test.ts', 'errors before routing are private too', BALANCER],
  ['http/private-answers.test.ts', 'an unsupported transfer coding is a 415 too', BALANCER],
  ...['host: a\r\nhost: b\r\n', 'host: a\r\nHOST: a\r\n'].map(
    (hosts) =>
      [
        'http/private-answers.test.ts',
        `${JSON.stringify(hosts)}: 400, on every path through the service`,
        BALANCER,
      ] as const,
  ),
]

/** Files that are not about the contract but about one machine, and are left out. */
export const ONE_MACHINE: ReadonlyMap<string, string> = new Map([
  ['imagestore/derivative-cache.test.ts', 'counts what one machine made and keeps on its disk'],
  ['imagestore/link-cached.test.ts', 'counts what one machine made, and reads its log'],
  ['imagestore/link-floods.test.ts', 'counts what one process makes, and who waits for it there'],
  ['imagestore/link-too-heavy.test.ts', 'counts what one machine made, and starts it again'],
  ['http/crowds.test.ts', 'counts what waits in one process'],
  ['http/raw-addresses.test.ts', 'the balancer refuses such addresses itself'],
  ['http/stop.test.ts', 'looks at the connections of one process while it stops'],
  ['http/slow-readers.test.ts', 'the balancer reads what the client does not'],
  ['domainwatch/write-fairness.test.ts', 'holds the writer of one process, and counts its attempts'],
  ['http/fair-limits.test.ts', 'counts what one process allows the connections of an address'],
  ['imagestore/link-changed-meanwhile.test.ts', 'holds a request in the middle of its work in one process'],
  ['imagestore/link-lookups.test.ts', 'keeps the connections of one process from the database'],
  ['keys/failed-keys.test.ts', 'counts the wrong keys of one process'],
  ['keys/wrong-keys-share.test.ts', 'keeps the connections of one process from the database'],
  ['http/malformed.test.ts', 'the balancer itself answers most of it'],
  ['http/documented-errors.test.ts', 'cuts requests off and asks for what the balancer refuses itself'],
  ['domainwatch/dns-tcp.test.ts', 'counts the connections of one process to a name server'],
  ['domainwatch/events-readers.test.ts', 'counts the open streams of one process'],
  ['domainwatch/watches-tls.test.ts', 'starts the node that knows the authority itself'],
  ['domainwatch/import-sources.test.ts', 'imports into the database of its own process'],
  ['domainwatch/watches-email.test.ts', 'starts the node that knows the mail server itself'],
  ['domainwatch/history-retention.test.ts', 'sweeps by hand, on the database of its own process'],
])

const OWN_DATABASE = 'opens a database in its own process, without a service'
const ONE_COMMAND = 'a command imports it in a process of its own, next to any number of nodes'
const ONE_IMAGE = 'one node makes all of it from the bytes of an image'
const ONE_RESOLVER = 'each node asks the name servers itself, and limits its own look-ups'
const ONE_ANSWER = 'the node that answers a request decides alone'
const CORPUS =
  'texts and lists of third parties, which one node reads; the tier on PostgreSQL stores all of them'

/** Files whose results cannot depend on a second node. They are left out; the tiers of one node run them. */
export const SAME_ON_ONE_NODE: ReadonlyMap<string, string> = new Map([
  ['corpus/deletions.test.ts', CORPUS],
  ['corpus/json.test.ts', CORPUS],
  ['corpus/naughty-strings.test.ts', CORPUS],
  ['corpus/registrations.test.ts', CORPUS],
  ['domainwatch/dns-bodies.test.ts', ONE_ANSWER],
  ['domainwatch/dns-fairness.test.ts', ONE_RESOLVER],
  ['domainwatch/dns-types.test.ts', ONE_RESOLVER],
  ['domainwatch/dns.test.ts', ONE_RESOLVER],
  ['domainwatch/export-texts.test.ts', ONE_COMMAND],
  ['domainwatch/filter-table.test.ts', OWN_DATABASE],
  ['domainwatch/import.test.ts', ONE_COMMAND],
  ['domainwatch/list-scans.test.ts', OWN_DATABASE],
  ['domainwatch/search.test.ts', OWN_DATABASE],
  ['domainwatch/search-random.test.ts', OWN_DATABASE],
  ['http/cors.test.ts', ONE_ANSWER],
  ['http/metrics-address.test.ts', ONE_ANSWER],
  ['imagestore/image-fields.test.ts', 'compares tables in the source with the documentation'],
  ['imagestore/modifier-table.test.ts', 'compares tables in the source with the documentation'],
  ['imagestore/bombs.test.ts', ONE_IMAGE],
  ['imagestore/corpus.test.ts', ONE_IMAGE],
  ['imagestore/hostile-containers.test.ts', ONE_IMAGE],
  ['imagestore/link-colours.test.ts', ONE_IMAGE],
  ['imagestore/link-grammar.test.ts', ONE_IMAGE],
  ['imagestore/link-in-browser.test.ts', ONE_IMAGE],
  ['imagestore/link-metadata.test.ts', ONE_IMAGE],
  ['imagestore/link-negotiation.test.ts', ONE_IMAGE],
  ['imagestore/strip.test.ts', ONE_IMAGE],
  ['imagestore/svg-encodings.test.ts', ONE_IMAGE],
  ['imagestore/svg-references.test.ts', ONE_IMAGE],
])

/** Of image hosting's tests: those left out, and those of which some look into the process. */
export const IMAGES_ON_ONE_NODE: readonly string[] = [
  ...[...ONE_MACHINE.keys()].filter((file) => file.startsWith('imagestore/')),
  ...['link-modes', 'quotas', 'similar'].map((name) => `imagestore/${name}.test.ts`),
]
