/** The parts of an OpenAPI document that the generator gets wrong for us. */
interface Operation {
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: Record<string, { schema: { required?: unknown } }> }
}

interface Parameter {
  name: string
  schema?: { 'x-flag'?: unknown }
  allowEmptyValue?: boolean
}

/** Mends what the generator cannot know of a finished document: flags, bodies that may be left out, the link's path. */
export function finishDocument<T>(document: T): T {
  // The generator's own type allows for every version of OpenAPI at once: what is read here is in all of them.
  const { paths = {} } = document as { paths?: Record<string, Record<string, Operation>> }
  for (const [path, operations] of Object.entries(paths)) {
    for (const operation of Object.values(operations)) finishOperation(operation)
    if (!path.endsWith('{*}')) continue
    delete paths[path]
    paths[path.replace('{*}', '{id}')] = operations
  }
  return document
}

function finishOperation({ parameters = [], requestBody }: Operation): void {
  for (const parameter of parameters) {
    if (parameter.name === '*') parameter.name = 'id'
    if (parameter.schema?.['x-flag'] === undefined) continue
    delete parameter.schema['x-flag']
    parameter.allowEmptyValue = true
  }
  if (requestBody === undefined) return
  requestBody.required = Object.values(requestBody.content).some(
    ({ schema }) => schema.required !== undefined,
  )
}
