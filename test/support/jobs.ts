import assert from 'node:assert/strict'
import { eventually } from './eventually.ts'
import { call, type Fields, type Reply } from './http.ts'
import type { TestService } from './service.ts'

export const IMPORT = '/api/v1/domainwatch/import'
export const IMPORTS = '/api/v1/domainwatch/imports'
export const BULK = '/api/v1/domainwatch/bulk'

type Client = Pick<TestService, 'url' | 'domainKey'>

/** A job as an answer shows it. */
export type Job = Readonly<Record<string, unknown>> & {
  readonly id: string
  readonly state: string
  readonly seconds_left: number | null
}

export function upload(
  service: Client,
  content: string | Uint8Array<ArrayBuffer>,
  fields: Fields = {},
  key = service.domainKey,
): Promise<Reply> {
  const form = new FormData()
  form.set('file', new Blob([content]), 'lista.txt')
  return call(service, IMPORT, { query: { api: key, ...fields }, body: form })
}

/** The id of a job that was accepted. */
export function acceptedId({ body, text }: Reply): string {
  const { status, id } = Object(body)
  assert.equal(status, 202, text)
  assert.match(id, /^[\w-]{12}$/)
  return id
}

export async function jobOf(
  service: Client,
  path: string,
  id: string,
  key = service.domainKey,
): Promise<Job> {
  const { body, text } = await call(service, path, { query: { api: key, id } })
  assert.equal(Object(body).status, 200, text)
  return Object(body)
}

/** Resolves to a job once it has ended. */
export async function ended(service: Client, path: string, id: string, key?: string): Promise<Job> {
  let job: Job | undefined
  await eventually(async () => {
    job = await jobOf(service, path, id, key)
    return !['receiving', 'running'].includes(job.state)
  }, 'the job ended')
  assert.ok(job !== undefined)
  return job
}

/** Uploads a list and resolves to its import once that has ended. */
export async function imported(
  service: Client,
  content: string | Uint8Array<ArrayBuffer>,
  fields: Fields = {},
  key?: string,
): Promise<Job> {
  return ended(service, IMPORTS, acceptedId(await upload(service, content, fields, key)), key)
}
