/**
 * What nodes share: records of several accounts, claims, changes as they are followed, deliveries, expiring keys, and
 * images that one node stores and another serves. These files run once more on two nodes.
 */
export const CONTRACT: readonly string[] = [
  ...[
    'add-again',
    'decisions',
    'discarded',
    'events',
    'history',
    'interest',
    'queue',
    'queue-members',
    'watch-deliveries',
    'watches',
  ].map((name) => `domainwatch/${name}.test.ts`),
  ...[
    'definitions',
    'records',
    'resumable-uploads',
    'similar',
    'tickets',
    'trash',
    'upload-answers',
    'upload-keys',
  ].map((name) => `imagestore/${name}.test.ts`),
  'keys/expiry.test.ts',
  'http/cached-answers.test.ts',
]

/** Tests of image hosting on a database or an object store that the contract leaves out, or whose process they look into. */
export const IMAGES_ON_ONE_NODE: readonly string[] = [
  'aliases',
  'bans',
  'derivative-cache',
  'edited-keys',
  'editing',
  'hooks',
  'link-cached',
  'link-changed-meanwhile',
  'link-floods',
  'link-modes',
  'link-too-heavy',
  'list',
  'quotas',
  'similar',
  'trash',
  'upload-left',
].map((name) => `imagestore/${name}.test.ts`)
