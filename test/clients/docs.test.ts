import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { defaultPresets, parseModifiers } from '../../src/imagestore/modifiers/index.ts'
import { startShop, VECTORS } from '../support/clients.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)
const LIMIT_MS = 60_000

/** How an example of each language is run. */
const LANGUAGES: Readonly<Record<string, (code: string) => [program: string, ...parameters: string[]]>> = {
  js: (code) => [
    process.execPath,
    '--input-type=module',
    '--eval',
    code.replaceAll(
      /'catalejo-client(?:\/(\w+))?'/g,
      (_, name = 'index') => `'${new URL(`../../clients/js/${name}.ts`, import.meta.url).href}'`,
    ),
  ],
  php: (code) => ['php', '-d', 'include_path=clients/php', '-r', code],
  python: (code) => ['python3', '-c', code],
}

test('the modifiers in docs/moving-in.md are those of links', () => {
  const rows = readFileSync(`${ROOT}/docs/moving-in.md`, 'utf8').matchAll(/^\| (`[^|]*`) /gm)
  const texts = [...rows].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text),
  )
  const presets = new Map([...defaultPresets, ['tarjeta', {}] as const])
  for (const text of texts)
    assert.ok(parseModifiers(text, undefined, { presets, watermarks: new Set(['logo']) }).ok, text)
  const keys = new Set(texts.flatMap((text) => text.split(',').map((token) => token.split('_', 1)[0])))
  assert.deepEqual(
    VECTORS.modifiers.filter((key) => !keys.has(key)),
    [],
  )
})

const blocks = readFileSync(`${ROOT}/docs/clients.md`, 'utf8').matchAll(/^```(\w+)\n([^]*?)^```/gm)
const examples = [...blocks].map(([, language = '', code = '']) => ({ language, code }))

for (const [language, commandOf] of Object.entries(LANGUAGES)) {
  const [program] = commandOf('')
  const skip = spawnSync(program, ['--version']).status !== 0 && `${program} is not installed`
  test(
    `the examples of ${language} in docs/clients.md work, and their links serve images`,
    { skip },
    async () => {
      const { service, key, secret } = await startShop()
      await using _ = service
      const environment = {
        PATH: process.env['PATH'],
        PYTHONPATH: 'clients/python',
        PYTHONDONTWRITEBYTECODE: '1',
        BASE_URL: service.url,
        API_KEY: key,
        LINK_SECRET: secret,
        DOMAIN_KEY: service.domainKey,
        WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      }
      let served = 0
      for (const { code } of examples.filter((example) => example.language === language)) {
        const [, ...parameters] = commandOf(code)
        const { stdout } = await run(program, parameters, { cwd: ROOT, env: environment, timeout: LIMIT_MS })
        for (const [link] of stdout.matchAll(/https?:\/\/\S+\/i\/\S+/g)) {
          const isSigned = link.includes('sig_')
          assert.equal((await fetch(link)).status, isSigned ? 200 : 403, link)
          if (isSigned) served++
        }
        const [, hash] = /\/i\/([a-z2-7]{32})/.exec(stdout) ?? []
        if (hash === undefined) continue
        const body = new URLSearchParams({ api: key, name: 'portada', hash })
        await fetch(`${service.url}/api/v1/imagestore/alias`, { method: 'POST', body })
      }
      assert.equal(served, 3)
    },
  )
}
