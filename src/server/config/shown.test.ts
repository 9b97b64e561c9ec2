import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readConfig } from './config.ts'
import { settings } from './settings.ts'

test('every setting is shown with its source and without secrets', () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalejo-settings-'))
  try {
    const file = join(folder, 'url')
    writeFileSync(file, 'postgres://ana:s3creto@db.cl:5432/catalejo?password=s3creto\n')
    const result = readConfig(
      { port: '9000' },
      {
        CATALEJO_LOG_LEVEL: 'warn',
        CATALEJO_DATABASE_URL_FILE: file,
        CATALEJO_DATABASE_LISTEN_URL: 'postgres://ana:s3creto@db.cl/catalejo',
      },
    )
    assert.ok(result.ok)
    const { shown } = result.config
    assert.equal(shown.length, Object.keys(settings).length)
    const find = (name: string) => shown.find((one) => one.name === name)
    assert.deepEqual(find('CATALEJO_PORT'), { name: 'CATALEJO_PORT', value: '9000', from: 'flag' })
    assert.partialDeepStrictEqual(find('CATALEJO_LOG_LEVEL'), { value: 'warn', from: 'environment' })
    assert.partialDeepStrictEqual(find('CATALEJO_DATABASE_URL'), {
      value: 'postgres://…@db.cl:5432/catalejo?…',
      from: 'file',
    })
    assert.partialDeepStrictEqual(find('CATALEJO_CORS_ORIGINS'), { value: '*', from: 'default' })
    assert.partialDeepStrictEqual(find('CATALEJO_DNS_SERVERS'), { value: '', from: 'default' })
    assert.partialDeepStrictEqual(find('CATALEJO_IMAGE_SETTINGS'), { value: '', from: 'default' })
    assert.doesNotMatch(JSON.stringify(shown), /s3creto/)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
