import assert from 'node:assert/strict'
import { bytesOf, expectedHash, ImageClient, stamped } from '../support/images.ts'

/** Records in a batch: enough that a kill can fall into the middle of one. */
const BATCH = 100

/**
 * Something that the service had to store, and its possible states after a crash: the last acknowledged state and
 * every state asked for since.
 */
interface Kept<State> {
  may: Set<State>
}

interface Picture extends Kept<string | undefined> {
  readonly bytes: Buffer
}

/** Result of one request: undefined when the server went away before it had answered. */
async function unlessCut<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request
  } catch (error) {
    // What fetch throws when a connection breaks; anything else is a fault of the service or the test.
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** Remembers all that was asked of a service over its crashes, and compares it with what it finds. */
export class Witness {
  readonly #picture: Buffer
  readonly #imageKey: string
  readonly #domainKey: string
  readonly #pictures: Picture[] = []
  readonly #batches = new Map<string, Kept<number>>()
  readonly #unverified = new Set<Picture | string>()

  /** @param picture a PNG whose copies, each with a comment of its own, are the uploads */
  constructor(picture: Buffer, keys: { readonly imageKey: string; readonly domainKey: string }) {
    this.#picture = picture
    this.#imageKey = keys.imageKey
    this.#domainKey = keys.domainKey
  }

  /** Pictures and batches that are stored for certain. */
  get stored() {
    const isStored = ({ may }: Kept<unknown>) => may.size === 1 && !may.has(undefined) && !may.has(0)
    return {
      pictures: this.#pictures.filter(isStored),
      batches: [...this.#batches.values()].filter(isStored),
    }
  }

  /** Uploads, uploads again under another name and deletes until the server is gone. */
  async handlePictures(url: string, random: () => number, acknowledged: () => void): Promise<void> {
    const client = new ImageClient(url, this.#imageKey)
    const own: Picture[] = []
    for (let turn = 0; ; turn++) {
      const known = random() < 0.3 ? own[Math.floor(random() * own.length)] : undefined
      const picture = known ?? this.#newPicture(own)
      const name = known !== undefined && random() < 0.4 ? undefined : `nombre ${turn}`
      picture.may.add(name)
      this.#unverified.add(picture)
      const request =
        name === undefined
          ? client.remove(expectedHash(picture.bytes))
          : client.upload(picture.bytes, { name })
      const answer = await unlessCut(request)
      if (answer === undefined) return
      // A picture that is deleted twice is not there the second time.
      assert.ok(
        answer.status === 200 || (name === undefined && answer.status === 404),
        JSON.stringify(answer),
      )
      picture.may = new Set([name])
      acknowledged()
    }
  }

  /** Adds batches of domains until the server is gone. */
  async handleBatches(url: string, prefix: string): Promise<void> {
    for (let turn = 0; ; turn++) {
      const mark = `${prefix}t${turn}x`
      const batch: Kept<number> = { may: new Set([0, BATCH]) }
      this.#batches.set(mark, batch)
      this.#unverified.add(mark)
      const data = Array.from({ length: BATCH }, (_, index) => {
        const domain = `${mark}${index}`
        return { domain, length: domain.length, reserve: 0, status: 1, date_reg: '2026-01-02 03:04:05' }
      })
      const answer = await unlessCut(
        fetch(`${url}/api/v1/domainwatch/add?api=${this.#domainKey}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ data }),
        }).then((response) => response.json()),
      )
      if (answer === undefined) return
      assert.deepEqual(answer, { status: 200, count: BATCH })
      batch.may = new Set([BATCH])
    }
  }

  /** Looks at everything that was touched since the last look, or at all there ever was. */
  async verify(url: string, all = false): Promise<void> {
    const client = new ImageClient(url, this.#imageKey)
    const things = all ? [...this.#pictures, ...this.#batches.keys()] : [...this.#unverified]
    this.#unverified.clear()
    for (let start = 0; start < things.length; start += 8) {
      await Promise.all(
        things
          .slice(start, start + 8)
          .map((thing) =>
            typeof thing === 'string' ? this.#verifyBatch(url, thing) : this.#verifyPicture(client, thing),
          ),
      )
    }
  }

  async #verifyPicture(client: ImageClient, picture: Picture): Promise<void> {
    const hash = expectedHash(picture.bytes)
    const { status, body } = await client.get(hash)
    const found = status === 404 ? undefined : String(body['name'])
    assert.ok(picture.may.has(found), `found ${found}, expected one of ${[...picture.may].join(', ')}`)
    const link = await client.link(hash)
    assert.equal(link.status, found === undefined ? 404 : 200)
    const bytes = await bytesOf(link)
    if (found !== undefined) assert.ok(bytes.equals(picture.bytes), 'the link gives exactly the bytes')
    picture.may = new Set([found])
  }

  async #verifyBatch(url: string, mark: string): Promise<void> {
    const batch = this.#batches.get(mark)
    const query = new URLSearchParams({ api: this.#domainKey, search: mark, limit: '1024' })
    const answer: unknown = await (await fetch(`${url}/api/v1/domainwatch/list?${query}`)).json()
    assert.ok(typeof answer === 'object' && answer !== null && 'count' in answer && batch !== undefined)
    const found = Number(answer.count)
    assert.ok(batch.may.has(found), `${mark}: ${found} records, expected ${[...batch.may].join(' or ')}`)
    batch.may = new Set([found])
  }

  #newPicture(own: Picture[]): Picture {
    const bytes = stamped(this.#picture, `testigo ${this.#pictures.length}`)
    const picture: Picture = { bytes, may: new Set([undefined]) }
    this.#pictures.push(picture)
    own.push(picture)
    return picture
  }
}
