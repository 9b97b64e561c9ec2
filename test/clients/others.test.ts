/** clients/php and clients/python against the vectors and a running service. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startBusyServer, startShop, VECTORS_PATH } from '../support/clients.ts'
import { temporaryFolder } from '../support/folder.ts'
import { gradient } from '../support/images.ts'

const run = promisify(execFile)
const LIMIT_MS = 60_000
const toPath = (path: string) => fileURLToPath(new URL(path, import.meta.url))

const LANGUAGES = [
  { program: 'php', script: 'check.php', folder: '../../clients/php/' },
  { program: 'python3', script: 'check.py', folder: '../../clients/python/' },
]

for (const { program, script, folder } of LANGUAGES) {
  const isMissing = spawnSync(program, ['--version']).status !== 0
  test(
    `the client of ${program} does all that the one of JavaScript does`,
    { skip: isMissing && `${program} is not installed` },
    async () => {
      const { service, key, secret } = await startShop()
      await using _ = service
      await using busy = await startBusyServer()
      await using pictures = await temporaryFolder()
      for (const side of [1, 2, 3])
        await writeFile(
          join(pictures.path, `${side}.png`),
          await gradient(600, 100 * side)
            .png()
            .toBuffer(),
        )
      const env = {
        PATH: process.env['PATH'],
        PYTHONDONTWRITEBYTECODE: '1',
        CLIENT_FOLDER: toPath(folder),
        VECTORS: fileURLToPath(VECTORS_PATH),
        PICTURES: pictures.path,
        BASE_URL: service.url,
        API_KEY: key,
        LINK_SECRET: secret,
        BUSY_URL: busy.url,
      }
      const { stderr } = await run(program, [toPath(script)], { env, timeout: LIMIT_MS })
      assert.equal(stderr, '')
      busy.assertPatience()
    },
  )
}
