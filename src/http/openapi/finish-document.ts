import { isObject, type JsonObject } from '../../lib/json.ts'

const HEADERS = {
  Link: { description: 'Address of the next page, with `rel="next"`', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds to wait before the next attempt', schema: { type: 'integer' } },
}
/** Keywords whose values are data, not schemas. */
const DATA = new Set(['example', 'examples', 'enum', 'const'])

/**
 * Completes the generated document: flags, optional bodies, the path of image links, headers of responses. What operations share
 * becomes a component, which generated clients declare once: schemas and responses with a title, and equal parameters.
 */
export function finishDocument<T>(document: T, webhooks: JsonObject): T {
  const schemas: Record<string, unknown> = {}
  const responses: Record<string, unknown> = {}
  const codes = new Set<string>()
  const { shared: parameters, share: shareParameter } = equalParameters(objectAt(document, 'paths'))

  const put = (components: Record<string, unknown>, kind: string, name: string, value: unknown) => {
    if (JSON.stringify(components[name] ?? value) !== JSON.stringify(value))
      throw new Error(`OpenAPI has two different ${kind} named ${name}`)
    components[name] = value
    return { $ref: `#/components/${kind}/${name}` }
  }

  function share(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(share)
    if (!isObject(value)) return value
    const { title, ...rest } = mapValues(value, (inner, key) => (DATA.has(key) ? inner : share(inner)))
    if (typeof title === 'string') return put(schemas, 'schemas', title, rest)
    return title === undefined ? rest : { ...rest, title }
  }

  function finishResponse(response: unknown, status: number, isPaged: boolean): unknown {
    const { content, ...rest } = toObject(response)
    const { title, schema } = errorSchema(objectAt(objectAt(content, 'application/json'), 'schema'))
    const headers = toHeaders(status, isPaged)
    const isError = status >= 400 && schema !== undefined
    const media = isError
      ? { 'application/json': { ...objectAt(content, 'application/json'), schema } }
      : content
    const whole = { ...rest, ...headers, ...(content !== undefined && { content: share(media) }) }
    return isError && typeof title === 'string' ? put(responses, 'responses', title, whole) : whole
  }

  /** Says of an error only what `Error` does not. */
  function errorSchema({ title, properties, required }: JsonObject) {
    const { msg, ...own } = toObject(properties)
    if (msg === undefined || !Array.isArray(required)) return { title, schema: undefined }
    for (const code of listAt(own['code'], 'enum')) codes.add(String(code))
    const narrowed = { type: 'object', required: required.filter((name) => name !== 'msg'), properties: own }
    return { title, schema: { allOf: [{ $ref: '#/components/schemas/Error' }, narrowed] } }
  }

  const paths = Object.entries(objectAt(document, 'paths')).map(([path, operations]) => [
    path.replace('{*}', '{id}'),
    mapValues(toObject(operations), (operation) => {
      const { parameters: given = [], responses: answers, requestBody, ...rest } = toObject(operation)
      const own = Array.isArray(given) ? given : []
      const isPaged = own.some(({ name }) => name === 'cursor')
      return {
        ...rest,
        ...(own.length > 0 && { parameters: own.map(shareParameter) }),
        ...(isObject(requestBody) && { requestBody: share(withRequired(requestBody)) }),
        responses: mapValues(toObject(answers), (response, status) =>
          finishResponse(response, Number(status), isPaged),
        ),
      }
    }),
  ])
  const finished = { paths: Object.fromEntries(paths), webhooks: share(webhooks) }
  const errorBase = {
    type: 'object',
    required: ['status', 'msg', 'code'],
    properties: {
      status: { type: 'integer', description: 'HTTP status' },
      msg: { type: 'string', description: 'Message for people, in Spanish' },
      code: {
        type: 'string',
        enum: [...codes].toSorted(),
        description: 'Code for programs, which is never renamed',
      },
    },
    description: 'Fields of every error',
  }
  return {
    ...document,
    ...finished,
    components: {
      ...objectAt(document, 'components'),
      headers: HEADERS,
      parameters,
      responses,
      schemas: { Error: errorBase, ...schemas },
    },
  }
}

function toHeaders(status: number, isPaged: boolean) {
  if (status === 429 || status === 503)
    return { headers: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } } }
  return status === 200 && isPaged ? { headers: { Link: { $ref: '#/components/headers/Link' } } } : {}
}

/** Of parameters of one name that differ, the first that several operations have is shared. */
function equalParameters(paths: JsonObject) {
  const seen = new Set<string>()
  const shared: Record<string, JsonObject> = {}
  const all = Object.values(paths).flatMap((path) =>
    Object.values(toObject(path)).flatMap((operation) => listAt(operation, 'parameters')),
  )
  for (const parameter of all.map(finishParameter)) {
    const text = JSON.stringify(parameter)
    if (seen.has(text)) shared[String(parameter['name'])] ??= parameter
    seen.add(text)
  }
  const share = (given: unknown) => {
    const parameter = finishParameter(given)
    const name = String(parameter['name'])
    const isShared = JSON.stringify(shared[name]) === JSON.stringify(parameter)
    return isShared ? { $ref: `#/components/parameters/${name}` } : parameter
  }
  return { shared, share }
}

function finishParameter(given: unknown): JsonObject {
  const parameter = toObject(given)
  const { 'x-flag': flag, ...schema } = objectAt(parameter, 'schema')
  const name = parameter['name'] === '*' ? 'id' : parameter['name']
  return { ...parameter, schema, name, ...(flag !== undefined && { allowEmptyValue: true }) }
}

const withRequired = (body: JsonObject): JsonObject => ({
  ...body,
  required: Object.values(objectAt(body, 'content')).some(
    (media) => listAt(objectAt(media, 'schema'), 'required').length > 0,
  ),
})

const mapValues = (
  object: JsonObject,
  map: (value: unknown, key: string) => unknown,
): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]))
const toObject = (value: unknown): JsonObject => (isObject(value) ? value : {})
const objectAt = (value: unknown, key: string): JsonObject => toObject(toObject(value)[key])
function listAt(value: unknown, key: string): readonly unknown[] {
  const list = toObject(value)[key]
  return Array.isArray(list) ? list : []
}
