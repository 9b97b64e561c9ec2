/** Rows that the service itself would not have written. */
import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { suite, test } from 'node:test'
import { systemClock } from '../../src/lib/clock.ts'
import { parseS3Location } from '../../src/storage/blobs/s3/location.ts'
import { sql, type Query } from '../../src/storage/database/sql.ts'
import { openInstance } from '../../src/operations/transfer/instance.ts'
import { verify } from '../../src/operations/verify.ts'
import { record, stored } from '../support/domains.ts'
import { expectedHash, gradient, ImageClient, stamped } from '../support/images.ts'
import { testBlobsUrl } from '../support/s3.ts'
import { startService } from '../support/service.ts'

suite('verify: rows of the database', { timeout: 300_000 }, () => {
  test('reports each inconsistent row', async () => {
    await using service = await startService()
    const png = await gradient(20, 10).png().toBuffer()
    const fotos = new ImageClient(service.url, service.imageKey)
    await fotos.upload(png)
    await fotos.upload(stamped(png, 'well'))
    await stored(
      service,
      [
        'bien',
        'largo',
        'marca',
        'fecha',
        'agente',
        'ñandú',
        'vuelve',
        'visto',
        'nadie',
        'tildes',
        'letras',
      ].map((name) => record(name)),
    )
    // A background job of the service would remove some of what follows.
    await service.stop()
    const { data, databaseUrl } = service
    await using instance = await openInstance({
      data,
      databaseUrl,
      blobsUrl: parseS3Location(testBlobsUrl(basename(data)) ?? ''),
    })
    const { database, blobs } = instance
    const hash = expectedHash(png)
    const key = (await database.first(sql<{ key: string }>`SELECT key FROM blobs WHERE hash = ${hash}`))?.key
    const nobody = 'a'.repeat(32)
    const damage: Query[] = [
      sql`UPDATE domains SET length = 99 WHERE name = 'largo'`,
      sql`UPDATE domains SET revision = 2 WHERE name = 'marca'`,
      sql`UPDATE domains SET date_reg = '2025-02-30 00:00:00' WHERE name = 'fecha'`,
      sql`UPDATE domains SET agent_folded = 'otro' WHERE name = 'agente'`,
      sql`UPDATE domains SET ascii = NULL WHERE name = 'ñandú'`,
      sql`UPDATE domains SET discarded_at = ${Date.now() * 2} WHERE name = 'vuelve'`,
      sql`UPDATE domains SET seen_at = -1, seen_by = 'Ana' WHERE name = 'visto'`,
      sql`UPDATE domains SET seen_at = 1 WHERE name = 'nadie'`,
      sql`UPDATE domains SET tags = ' casa Venta ', numbers = 'volumen=1' WHERE name = 'tildes'`,
      sql`UPDATE domains SET words = ' le tra ' WHERE name = 'letras'`,
      sql`UPDATE domains SET discarded_at = 1, seen_at = 1, seen_by = 'Ana', tags = ' casa venta-2 ', words = ' bi en '
        WHERE name = 'bien'`,
      sql`INSERT INTO domains (name, length, agent, agent_folded, status, reserved, date_reg, date_mod)
        VALUES ('MAYÚSCULA', 9, 'a', 'a', 1, 0, '2025-01-01 00:00:00', '2025-01-01 00:00:00')`,
      sql`UPDATE images SET name_folded = 'otro' WHERE hash = ${hash}`,
      sql`INSERT INTO blob_trash (key) VALUES (${key ?? ''})`,
      sql`INSERT INTO blobs (hash, key, format, mime, size, width, height, frames, dhash)
        VALUES (${nobody}, 'other.key', 'png', 'image/png', 9, 0, 1, 1, 'x')`,
    ]
    for (const statement of damage) await database.transaction((tx) => tx.run(statement))

    const { findings } = await verify({
      database,
      blobs,
      clock: systemClock,
      repair: false,
      claim: false,
      minAgeMs: 3_600_000,
      examples: 20,
      progress: { begin() {}, add() {}, end() {} },
    })
    const account = await database.first(sql<{ id: number }>`SELECT id FROM accounts WHERE name = 'fotos'`)
    assert.deepEqual(
      findings.of('database').first.toSorted(),
      [
        'domain largo: its length is not its number of characters',
        'domain marca: a mark is neither 0 nor 1',
        'domain fecha: a date is not valid',
        'domain agente: its agent and its folded form differ',
        'domain ñandú: its A-label form does not match',
        'domain vuelve: the time when it was discarded is not valid',
        'domain visto: the time when it was decided on is not valid',
        'domain nadie: a decision has no author, or an author no decision',
        'domain tildes: its tags are not valid; its numbers are not those that were imported for its name',
        'domain letras: its words are not those of its name',
        'domain MAYÚSCULA: its name is not valid; its A-label form does not match',
        `image ${hash} of account ${account?.id}: its name and its folded form differ`,
        `blob ${key}: it is to be removed, and in use`,
        'blob other.key: its key does not begin with its hash; a measure is not positive; its dhash is not valid; no image uses it',
      ].toSorted(),
    )
    assert.deepEqual(findings.of('missing').first, ['other.key'])
  })
})
