/**
 * Writes openapi.json from the routes. `--check` only compares and exits 1 if it differs.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { createFeeds, createJobs, follow } from '../src/server/app.ts'
import { createRoutes } from '../src/server/routes.ts'
import { readConfig } from '../src/server/config/config.ts'
import { createContext } from '../src/server/context.ts'
import { openImagestore } from '../src/imagestore/index.ts'

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
    const jobs = createJobs(context)
    const server = await createRoutes(context, openImagestore(context), following, { feeds, jobs }, () => '')
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
if (!process.argv.includes('--check')) {
  await writeFile(target, document)
} else if (document !== (await readFile(target, 'utf8').catch(() => ''))) {
  console.error('openapi.json is not what the routes say: run npm run openapi')
  process.exitCode = 1
}
