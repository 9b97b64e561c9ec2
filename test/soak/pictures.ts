import { expectedHash, gradient, noise, stamped } from '../support/images.ts'
import { field, type Answered, type Asking, type Unknown } from './asking.ts'
import { History } from './history.ts'

/** Derived from every picture of one kind, so that its bytes are known beforehand. */
const MODIFIER = 'w_8,f_png'
/** Percentage of large pictures, which are streamed from the store. */
const LARGE = 0.05

/** A request for an original that is streamed: it ends early if the store breaks it off. */
export const LARGE_LINK = 'link of a large image'

/** What an application calls a picture; undefined where it has none. */
type Name = string | undefined

export interface Picture {
  readonly bytes: Buffer
  readonly hash: string
  readonly kind: number
  /** By application's key. */
  readonly records: Map<string, History<Name>>
}

/** The pictures of a soak, and how to ask for them and judge the answers. */
export class Pictures {
  readonly #asking: Asking
  readonly #kinds: readonly Buffer[]
  readonly #derived: (Buffer | undefined)[] = []
  readonly all: Picture[] = []
  readonly #lagMs: number

  private constructor(asking: Asking, kinds: readonly Buffer[], lagMs: number) {
    this.#asking = asking
    this.#kinds = kinds
    this.#lagMs = lagMs
  }

  static async open(asking: Asking, lagMs: number): Promise<Pictures> {
    const kinds = await Promise.all(
      [gradient(20, 10), noise(800, 600)].map((picture) => picture.png().toBuffer()),
    )
    return new Pictures(asking, kinds, lagMs)
  }

  fresh(random: () => number, mark: string): Picture {
    const kind = random() < LARGE ? 1 : 0
    const bytes = stamped(this.#kinds[kind] ?? Buffer.alloc(0), mark)
    const picture = { bytes, hash: expectedHash(bytes), kind, records: new Map() }
    this.all.push(picture)
    return picture
  }

  async upload(url: string, key: string, picture: Picture, name: string): Promise<void> {
    const record = picture.records.get(key) ?? new History<Name>(undefined)
    picture.records.set(key, record)
    const ended = record.attempt(() => name)
    const answer = await this.#asking.ask('upload', `${url}/api/v1/imagestore/upload?api=${key}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        image: picture.bytes.toString('base64'),
        info: { name, mime: 'image/png', ip: '192.0.2.1' },
      }),
    })
    if (answer.kind === 'unknown') return ended('unknown')
    if (answer.status !== 200 || field(answer.body, 'hash') !== picture.hash)
      return this.#wrong('upload', picture, answer)
    ended('done')
  }

  async remove(url: string, key: string, picture: Picture): Promise<void> {
    const record = picture.records.get(key)
    if (record === undefined) return
    const ended = record.attempt(() => undefined)
    const address = `${url}/api/v1/imagestore/delete?${new URLSearchParams({ api: key, hash: picture.hash })}`
    const answer = await this.#asking.ask('delete', address, { method: 'DELETE' })
    if (answer.kind === 'unknown') return ended('unknown')
    if (answer.status === 200) return ended('done')
    // An upload without an answer may not have happened yet: this says nothing of what is still to come.
    if (answer.status !== 404 || !record.mayBeRead(answer.since, 0).has(undefined)) {
      this.#wrong('delete', picture, answer)
    }
  }

  /** @returns whether the picture is there; undefined when that is not known */
  async get(url: string, key: string, picture: Picture): Promise<boolean | undefined> {
    const address = `${url}/api/v1/imagestore/get?${new URLSearchParams({ api: key, hash: picture.hash })}`
    const answer = await this.#asking.ask('get', address)
    if (answer.kind === 'unknown') return undefined
    const may = picture.records.get(key)?.mayBeRead(answer.since, this.#lagMs) ?? new Set([undefined])
    const name = answer.status === 404 ? undefined : String(field(answer.body, 'name'))
    if ((answer.status !== 200 && answer.status !== 404) || !may.has(name)) {
      this.#wrong(`get, may be ${[...may].join(' or ')}`, picture, answer)
    }
    return name !== undefined
  }

  async link(url: string, picture: Picture): Promise<boolean | undefined> {
    const answer = await this.#asking.ask(
      picture.kind === 1 ? LARGE_LINK : 'link',
      `${url}/i/${picture.hash}`,
    )
    return this.#judgeLink('link', picture, answer, (bytes) => bytes.equals(picture.bytes))
  }

  async derived(url: string, picture: Picture): Promise<boolean | undefined> {
    const answer = await this.#asking.ask('derived', `${url}/i/${picture.hash}?m=${MODIFIER}`)
    return this.#judgeLink('derived', picture, answer, (bytes) => {
      const known = (this.#derived[picture.kind] ??= bytes)
      return bytes.equals(known)
    })
  }

  async list(url: string, key: string, picture: Picture, search: string): Promise<void> {
    const query = new URLSearchParams({ api: key, search, limit: '1024' })
    const answer = await this.#asking.ask('images', `${url}/api/v1/imagestore/list?${query}`)
    if (answer.kind === 'unknown') return
    const images = field(answer.body, 'data')
    const listed = Array.isArray(images)
      ? images.find((image) => field(image, 'hash') === picture.hash)
      : undefined
    const name = listed === undefined ? undefined : String(field(listed, 'name'))
    const may = picture.records.get(key)?.mayBeRead(answer.since, this.#lagMs) ?? new Set([undefined])
    const isRight =
      name === undefined
        ? [...may].some((other) => !other?.includes(search))
        : may.has(name) && name.includes(search)
    if (answer.status !== 200 || !isRight)
      this.#wrong(`list by ${search}, may be ${[...may].join(' or ')}`, picture, answer)
  }

  #judgeLink(
    name: string,
    picture: Picture,
    answer: Answered | Unknown,
    areRight: (bytes: Buffer) => boolean,
  ): boolean | undefined {
    if (answer.kind === 'unknown') return undefined
    const records = [...picture.records.values()].map((record) => record.mayBeRead(answer.since, this.#lagMs))
    const mayBeHeld = records.some((may) => [...may].some((held) => held !== undefined))
    const mayBeGone = records.every((may) => may.has(undefined))
    const isRight =
      answer.status === 200 ? mayBeHeld && areRight(answer.bytes) : answer.status === 404 && mayBeGone
    if (!isRight) this.#wrong(`${name}, may be held ${mayBeHeld}, gone ${mayBeGone}`, picture, answer)
    return answer.status === 200
  }

  #wrong(what: string, { hash }: Picture, { status, bytes }: Answered): void {
    this.#asking.violation(`${what} of ${hash}: wrong answer ${status} ${bytes.toString('latin1', 0, 200)}`)
  }
}
