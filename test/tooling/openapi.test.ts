import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { openapiText as text, resolved } from '../support/openapi.ts'

interface Media {
  readonly schema: { readonly properties?: Readonly<Record<string, unknown>> }
  readonly example?: unknown
}

interface Operation {
  readonly operationId?: string
  readonly summary?: string
  readonly tags?: readonly string[]
  readonly security?: unknown
  readonly parameters?: readonly { name: string; in: string; required?: boolean; allowEmptyValue?: boolean }[]
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Media>> }
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, Media>>; readonly headers?: object }>
  >
}

interface Document {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly webhooks: object
}

const document: Document = Object(resolved(JSON.parse(text)))
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
)

const operationAt = (name: string): Operation => {
  const found = operations.find((one) => one.name === name)
  assert.ok(found, `${name} is not documented`)
  return found.operation
}

test('the document is valid OpenAPI 3.1', async () => {
  assert.match(document.openapi, /^3\.1\./)
  const { valid, errors } = await new Validator().validate(JSON.parse(text))
  assert.ok(valid, JSON.stringify(errors))
})

test('operations have a tag, a summary and an id of their own', () => {
  const ids = new Set<string>()
  for (const { name, operation } of operations) {
    assert.ok(operation.summary !== undefined && operation.tags?.length === 1, name)
    assert.ok(operation.operationId !== undefined && !ids.has(operation.operationId), name)
    ids.add(operation.operationId)
  }
})

/** Operations whose bodies are more than parameters. */
const WITH_OWN_FIELDS = ['addDomains', 'updateDomains', 'importDomains', 'lookUpDomains', 'uploadImage']

test('every JSON response and every body with its own fields has an example', () => {
  for (const { name, operation } of operations) {
    if (name === 'get /openapi.json') continue
    for (const [status, { content = {} }] of Object.entries(operation.responses)) {
      const json = content['application/json']
      if (json !== undefined) assert.notEqual(json.example, undefined, `${name} ${status}`)
    }
    if (!WITH_OWN_FIELDS.includes(operation.operationId ?? '')) continue
    assert.equal(operation.requestBody?.required, true, name)
    for (const [type, { example }] of Object.entries(operation.requestBody.content)) {
      assert.notEqual(example, undefined, `${name} ${type}`)
    }
  }
})

test('there is no wildcard, and path parameters are declared', () => {
  for (const { name, operation } of operations) {
    assert.ok(!name.includes('*'), name)
    const declared = (operation.parameters ?? []).filter((one) => one.in === 'path').map((one) => one.name)
    assert.deepEqual(
      [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter),
      declared,
      name,
    )
  }
})

test('the key is a security scheme, and no parameter or field', () => {
  for (const { name, operation } of operations) {
    assert.deepEqual(operation.security, name.includes('/api/v1/') ? [{ api: [] }] : undefined, name)
    assert.ok(!operation.parameters?.some((one) => one.name === 'api'), name)
    for (const { schema } of Object.values(operation.requestBody?.content ?? {}))
      assert.ok(!Object.keys(schema.properties ?? {}).includes('api'), name)
  }
})

test('parameters are in the query or in the body, not in both', () => {
  for (const { name, operation } of operations)
    if (operation.requestBody !== undefined)
      assert.ok(!operation.parameters?.some((one) => one.in === 'query'), name)
})

test('responses name the next page, or the time until a retry, in documented headers', () => {
  const headersAt = (name: string, status: number) =>
    Object.keys(operationAt(name).responses[status]?.headers ?? {})
  assert.deepEqual(headersAt('get /api/v1/domainwatch/list', 200), ['Link'])
  assert.deepEqual(headersAt('get /api/v1/imagestore/stats', 200), [])
  assert.deepEqual(headersAt('get /api/v1/imagestore/stats', 429), ['Retry-After'])
  assert.deepEqual(headersAt('get /readyz', 503), ['Retry-After'])
})

test('generated clients find schemas by their names', () => {
  const { components } = JSON.parse(text)
  for (const name of ['Image', 'DomainRecord', 'Watch', 'DomainEvent', 'Error'])
    assert.equal(components.schemas[name]?.type, 'object', name)
})

test('webhooks are described', () => {
  const domains = ['domainsChanged', 'domainsGap', 'watchTest']
  const images = ['imageCreated', 'imageUpdated', 'imageDeleted', 'imageExpired', 'aliasChanged', 'imagesGap']
  assert.deepEqual(Object.keys(document.webhooks), [...domains, ...images])
})

test('POST accepts the three encodings', () => {
  for (const { name, operation } of operations.filter((one) => one.name.includes('/api/v1/'))) {
    if (!name.startsWith('post ')) continue
    assert.deepEqual(
      Object.keys(operation.requestBody?.content ?? {}),
      ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'],
      name,
    )
  }
})

test('flags may be given without a value', () => {
  const { parameters = [] } = operationAt('get /api/v1/domainwatch/list')
  const flags = parameters.filter((one) => one.allowEmptyValue === true).map((one) => one.name)
  assert.deepEqual(flags, ['agent', 'reserve', 'rev', 'dis'])
})
