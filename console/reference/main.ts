/** The API reference at `/docs`: what `openapi.json` says, and a form to try each operation. */
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import 'swagger-ui-dist/swagger-ui.css'

SwaggerUI({
  dom_id: '#reference',
  // Next to `/docs`, whatever the path of the service.
  url: new URL('../../openapi.json', document.baseURI).href,
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  defaultModelsExpandDepth: -1,
  // Else it sends the document to a server of its makers.
  validatorUrl: null,
})
