import type { BulkCall } from '../../http/endpoint.ts'
import { badParameter } from '../../http/errors.ts'
import { jsonText, text, type Parameter } from '../../http/parameters.ts'
import { parseLabel } from '../../lib/domain-names.ts'
import { parseJson } from '../../lib/json.ts'
import type { Tasks } from '../../lib/tasks.ts'
import { readDataText, readInThread, unreadableError } from '../tasks/data-field.ts'

/** With room for escapes. */
export const NAMES_BODY_BYTES = 512 * 1024
/** More than an account can claim: clients may release all that they have ever claimed. */
const NAMES = { max: 1_000, of: 'nombres' }
const TAKES_NAMES = 'debe ser un arreglo de nombres de dominio .cl válidos, sin el sufijo'

/** The names as a JSON array, or its text, for an endpoint whose body is small. */
export const namesArrayParameter = (description: string): Parameter<readonly string[]> => ({
  required: false,
  description,
  schema: jsonText({ type: 'array', items: { type: 'string' } }),
  example: '["catalejo","casa"]',
  parse(given) {
    const value = parseJson(given)
    const names = Array.isArray(value) ? namesIn(value) : undefined
    if (names === undefined || names.length > NAMES.max)
      return { takes: `${TAKES_NAMES}, ${NAMES.max} como máximo` }
    return { value: [...new Set(names)] }
  },
})

export const namesParameter = (description: string): Parameter<string> => text(description, NAMES_BODY_BYTES)

/**
 * Authenticates the request and reads the names in `data`, in the query or else the body. Undefined if it has none.
 * @throws HttpError 400 for names that are not valid
 */
export async function readNames(
  { body, identify, values }: BulkCall<{ data: Parameter<string> }>,
  tasks: Tasks,
) {
  const sent = body.bytes.byteLength === 0 ? undefined : await readInThread(tasks, body)
  const identity = await identify(sent?.api, sent?.names ?? [])
  const data = values.data === undefined ? sent?.data : readDataText(values.data, NAMES)
  if (data === undefined || (data.kind === 'unreadable' && data.isMissing)) return { identity }
  if (data.kind === 'unreadable') throw unreadableError(data)
  const names = namesIn(data.items)
  if (names === undefined) throw badParameter('data', TAKES_NAMES)
  return { identity, names }
}

/** Returns undefined if an item is not a name. */
function namesIn(items: readonly unknown[]): readonly string[] | undefined {
  const labels = items.map((item) => (typeof item === 'string' ? parseLabel(item) : undefined))
  const names = labels.flatMap((label) => (label?.ok === true ? label.name : []))
  return names.length === items.length ? names : undefined
}
