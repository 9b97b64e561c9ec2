/** The API reference at `/docs`: what `openapi.json` says, and a form to try each operation. */
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import 'swagger-ui-dist/swagger-ui.css'

interface Parameter {
  readonly required?: boolean
  readonly schema?: { readonly type?: string }
  example?: unknown
}

interface OpenApi {
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> }
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly parameters?: readonly Parameter[] }>>>
  >
}

// Next to `/docs`, whatever the path of the service.
const response = await fetch(new URL('../../openapi.json', document.baseURI))
const spec: OpenApi = await response.json()
// The form is filled in with examples: of optional parameters, those would be filters that nobody has asked for.
const own = Object.values(spec.paths).flatMap((operations) =>
  Object.values(operations).flatMap(({ parameters = [] }) => parameters),
)
for (const parameter of [...own, ...Object.values(spec.components.parameters)]) {
  if (parameter.required === true) continue
  delete parameter.example
  if (parameter.schema?.type === 'object') parameter.example = {}
}

SwaggerUI({
  dom_id: '#reference',
  spec,
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  defaultModelsExpandDepth: -1,
  // Else it sends the document to a server of its makers.
  validatorUrl: null,
})
