/**
 * What nodes share: records of several accounts, claims, changes as they are followed, deliveries, expiring keys, and
 * images that one node stores and another serves. These files run once more on two nodes.
 */
export const CONTRACT: readonly string[] = [
  ...['decisions', 'discarded', 'events', 'history', 'queue', 'watch-deliveries', 'watches'].map(
    (name) => `test/domainwatch/${name}.test.ts`,
  ),
  ...['records', 'resumable-uploads', 'similar', 'tickets', 'trash', 'upload-keys'].map(
    (name) => `test/imagestore/${name}.test.ts`,
  ),
  'test/keys/expiry.test.ts',
  'test/http/cached-answers.test.ts',
]
