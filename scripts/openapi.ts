/**
 * Writes openapi.json from the routes, from it the types of the console's client, and the constants of the console.
 * `--check` only compares and exits 1 when they differ.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { createFeeds, createRoutes, follow } from '../src/server/app.ts'
import { readConfig } from '../src/server/config/config.ts'
import { createContext } from '../src/server/context.ts'
import { openImagestore } from '../src/imagestore/index.ts'
import { consoleConstants } from './console-constants.ts'
import { consoleTypes } from './console-types.ts'

const target = new URL('../openapi.json', import.meta.url)

/** The document of a service with the default settings, in the order in which its routes are registered. */
async function describeRoutes(): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), 'catalejo-openapi-'))
  // No environment: the document is the same on every machine.
  const settings = readConfig({ data, 'dns-servers': '127.0.0.1:53' }, {})
  if (!settings.ok) throw new Error(settings.faults.join('\n'))
  const context = await createContext(settings.config, { log: pino({ level: 'silent' }) })
  try {
    const following = follow(context, () => '')
    const feeds = createFeeds(context)
    const server = await createRoutes(context, openImagestore(context), following, feeds, () => '')
    await server.ready()
    const document = JSON.stringify(server.swagger(), undefined, 2)
    await server.close()
    return `${document}\n`
  } finally {
    await context.close()
    await rm(data, { recursive: true, force: true })
  }
}

const document = await describeRoutes()
const made = [
  [target, document],
  [new URL('../console/api/schema.ts', import.meta.url), consoleTypes(JSON.parse(document))],
  [new URL('../console/api/constants.ts', import.meta.url), consoleConstants()],
] as const
for (const [file, text] of made) {
  if (!process.argv.includes('--check')) {
    await writeFile(file, text)
  } else if (text !== (await readFile(file, 'utf8').catch(() => ''))) {
    console.error(`${file.pathname} is not what the routes say: run npm run openapi`)
    process.exitCode = 1
  }
}
