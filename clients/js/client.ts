import { readEvents, type EventsOptions, type ServiceEvent } from './events.ts'
import { send, toBody, toText, type RequestOptions, type RetryOptions } from './request.ts'
import type { Operations } from './schema.ts'

/** An operation, by its method and path: `GET /api/v1/imagestore/list`. */
export type Operation = keyof Operations
/** Parts of a body that may be files. */
type Files<Body> = { [Name in keyof Body]: Body[Name] | (Name extends 'image' | 'file' ? Blob : never) }
export type OperationParameters<Name extends Operation> = Operations[Name] extends { body: infer Body }
  ? Files<Body>
  : Operations[Name]['query']
export type Answer<Name extends Operation> = Operations[Name]['answer']

export interface ClientOptions extends RetryOptions {
  /** The address of the service, such as `https://catalejo.example.cl`. */
  readonly url: string
  readonly key: string
}

/** Calls operations of the service with a key. */
export class Catalejo {
  readonly options: ClientOptions

  constructor(options: ClientOptions) {
    this.options = options
  }

  /** Calls an operation and returns its answer. */
  async call<Name extends Operation>(
    name: Name,
    parameters?: OperationParameters<Name>,
    options?: RequestOptions,
  ): Promise<Answer<Name>> {
    const response = await this.request(name, parameters, options)
    return JSON.parse(await response.text())
  }

  /** Calls an operation and returns the response, such as that of an export. Waits and repeats after 429 and 503. */
  async request<Name extends Operation>(
    name: Name,
    parameters?: OperationParameters<Name>,
    options: RequestOptions = {},
  ): Promise<Response> {
    const [method = 'GET', path = ''] = name.split(' ')
    const address = new URL(this.options.url.replace(/\/$/, '') + path)
    address.searchParams.set('api', this.options.key)
    const fields = Object.entries(parameters ?? {}).filter(([, value]) => value !== undefined)
    if (method === 'POST') return send(address, { method, ...toBody(fields), options }, this.options)
    for (const [field, value] of fields) {
      // A flag is on if it is present.
      if (value !== false) address.searchParams.set(field, value === true ? '1' : toText(value))
    }
    return send(address, { method, options }, this.options)
  }

  /** Returns the answers of a list, page by page. */
  async *pages<Name extends Operation>(
    name: Name,
    parameters?: OperationParameters<Name>,
    options: RequestOptions = {},
  ): AsyncGenerator<Answer<Name>, void> {
    let response = await this.request(name, parameters, options)
    for (;;) {
      const next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
      const answer: Answer<Name> = JSON.parse(await response.text())
      yield answer
      if (next === undefined) return
      response = await send(new URL(next), { method: 'GET', options }, this.options)
    }
  }

  /** Follows the changes of domains, and reconnects where the stream broke. */
  events(
    filters: OperationParameters<'GET /api/v1/domainwatch/events'> = {},
    options: EventsOptions = {},
  ): AsyncGenerator<ServiceEvent, void> {
    const open = (headers: Readonly<Record<string, string>>, signal: AbortSignal) =>
      this.request('GET /api/v1/domainwatch/events', filters, { headers, signal })
    return readEvents(open, options)
  }
}

/** Uploads an image with a ticket, which needs no key: in the page of a visitor. @param url of the ticket */
export async function uploadWithTicket(
  url: string,
  image: Blob,
  options: RequestOptions & { readonly name?: string } = {},
): Promise<Answer<'POST /api/v1/imagestore/upload'>> {
  const { body } = toBody([['image', options.name === undefined ? image : new File([image], options.name)]])
  const response = await send(new URL(url), { method: 'POST', body, options })
  return JSON.parse(await response.text())
}
