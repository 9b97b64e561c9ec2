import { readFile, stat } from 'node:fs/promises'
import { allowAddresses } from '../deliveries/http-client.ts'
import { download, DOWNLOAD_LIMITS } from '../deliveries/download.ts'
import { ListFault } from '../lib/errors.ts'
import {
  filesIn,
  listedImages,
  objectsIn,
  type FetchImage,
  type ImportItem,
  importImages,
} from '../imagestore/import-images.ts'
import { VERSION } from '../lib/version.ts'
import { type Context, createContext } from '../server/context.ts'
import { parseS3Location, S3_LOCATION_TAKES } from '../storage/blobs/s3/location.ts'
import { availableParallelism } from 'node:os'
import { createLog } from '../lib/log.ts'
import { openImagestore } from '../imagestore/index.ts'
import { exportImages, MANIFEST } from '../imagestore/export-images.ts'
import { checkpointsOf } from './checkpoint.ts'
import { fail, failureLine, usageFault, createProgress } from './output.ts'
import { abortOnSignal, type Options } from './command.ts'
import { countOf } from '../lib/text.ts'

/** Images that an interrupted import repeats at most. */
const CHECKPOINT_EVERY = 50
const MAX_LISTED = 20

interface Run {
  readonly context: Context
  readonly accountId: number
  readonly place: string
  readonly restart: boolean
}

/** `catalejo images import PLACE`. Works while the service runs. */
export const importCommand = (options: Options): Promise<void> => run('import', importAll, options)

/** `catalejo images export FOLDER`. Works while the service runs. */
export const exportCommand = (options: Options): Promise<void> => run('export', exportAll, options)

async function run(
  action: string,
  work: (run: Run) => Promise<void>,
  { config, own, positionals: [place = ''], switches }: Options,
): Promise<void> {
  const name = own['account'] ?? ''
  const context = await createContext(config, { log: createLog('silent') }, { existing: true })
  try {
    const account = await context.accounts.find(name)
    if (account?.service !== 'imagestore')
      return fail(`there is no account «${name}» of the service imagestore`)
    await work({ context, accountId: account.id, place, restart: switches.has('restart') })
  } catch (error) {
    // An unreadable folder, a full disk or a lost database: the command can be repeated and continues.
    fail(`${action} of ${place}: ${failureLine(error)}`)
  } finally {
    await context.close()
  }
}

async function importAll({ context, accountId, place, restart }: Run): Promise<void> {
  const { clock, config } = context
  const items = await openSource(place, context)
  if (typeof items === 'string') return usageFault(items)
  const progress = createProgress()
  const checkpoints = await checkpointsOf(config.data, place)
  if (restart) await checkpoints.remove()
  let before = await checkpoints.read()
  let total = 0
  for await (const { number, label } of items()) {
    total++
    // If the files of the folder have changed, the import starts over.
    if (number === before?.line && label !== before.at) before = undefined
  }
  if (before !== undefined) console.error(`${place}: resuming after ${before.line} of ${total}`)
  const { signal } = abortOnSignal()
  const { store } = openImagestore(context)
  progress.begin(place, total, before?.line)
  let sinceCheckpoint = 0
  const result = await importImages(items(), {
    store,
    clock,
    accountId,
    maxBytes: config.maxImageBytes,
    strips: config.strip === 1,
    concurrency: 2 * (config.imageWorkers === 0 ? availableParallelism() : config.imageWorkers),
    signal,
    after: before && {
      number: before.line,
      stored: before.counts.changed,
      refused: before.counts.refused,
    },
    async onProgress({ number, label }, { stored, refused }) {
      progress.add(1)
      if (++sinceCheckpoint < CHECKPOINT_EVERY) return
      sinceCheckpoint = 0
      await checkpoints.write({
        line: number,
        at: label,
        counts: { read: stored + refused, added: stored, changed: stored, refused },
      })
    },
  })
  progress.end()
  if (signal.aborted) {
    console.error(`${place}: stopped; run the same command to resume`)
    process.exitCode = 1
    return
  }
  await checkpoints.remove()
  console.log(`${place}: ${countOf(result.stored, 'image')} stored, ${result.refused} refused`)
  for (const { label, reason } of result.faults)
    console.error(`${place}: ${escapeControls(label)}: ${reason}`)
  if (result.refused > result.faults.length) console.error(`${place}: … and more`)
  if (result.refused > 0) process.exitCode = 1
}

async function exportAll({ context, accountId, place }: Run): Promise<void> {
  const { blobs, clock, database } = context
  const progress = createProgress()
  progress.begin(place)
  const { written, present, missing } = await exportImages({
    database,
    blobs,
    clock,
    accountId,
    folder: place,
    onProgress: () => progress.add(1),
  })
  progress.end()
  console.log(
    `${place}: ${countOf(written, 'image')} written, ${present} there before, ${missing.length} lost; ${MANIFEST} lists them`,
  )
  for (const hash of missing.slice(0, MAX_LISTED)) console.error(`${place}: the bytes of ${hash} are lost`)
  if (missing.length > 0) process.exitCode = 1
}

/** Escapes control characters, which names of files may contain. */
const escapeControls = (label: string): string =>
  label.replaceAll(/\p{Cc}/gu, (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`)

/** Nothing is known of an address that is fetched for the first time. */
const NO_VERSION = { etag: null, lastModified: null }

/** Opens a folder, a bucket or a list, which can be read several times. Returns what is wrong with the place if it is none. */
async function openSource(
  place: string,
  context: Context,
): Promise<(() => AsyncIterable<ImportItem>) | string> {
  if (place.startsWith('s3:')) {
    const location = parseS3Location(place)
    if (location === undefined) return `a bucket is ${S3_LOCATION_TAKES}`
    // Loaded on demand: the SDK is large.
    const { openObjects } = await import('../storage/blobs/s3/store.ts')
    const objects = openObjects(location)
    context.onClose(async () => objects.close())
    return () => objectsIn(objects)
  }
  const found = await stat(place).catch(() => undefined)
  if (found === undefined) return `there is no ${place}`
  if (found.isDirectory()) return () => filesIn(place)
  const fetchImage = imageFetcher(context)
  return () => listedImages(place, fetchImage)
}

/** Fetches addresses with the limits of feeds on time, redirects and private networks. */
function imageFetcher({ config, staging }: Context): FetchImage {
  const isAllowedAddress = allowAddresses(config.webhookNetworks)
  return async (url, maxBytes, signal) => {
    const limits = { ...DOWNLOAD_LIMITS, maxBytes }
    const options = { staging, isAllowedAddress, userAgent: `Catalejo/${VERSION}`, limits }
    try {
      const found = await download(url, NO_VERSION, options, signal)
      if (found.kind === 'unchanged') return 'not modified'
      await using file = found.file
      return await readFile(file.path)
    } catch (error) {
      if (error instanceof ListFault) return error.message
      throw error
    }
  }
}
