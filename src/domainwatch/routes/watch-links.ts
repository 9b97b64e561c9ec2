import { addressClient } from '../../http/client.ts'
import { publicUrl } from '../../http/headers.ts'
import { problem, string } from '../../http/openapi/json-schema.ts'
import type { HttpReply, HttpRequest } from '../../http/server.ts'
import { escapeHtml } from '../../lib/text.ts'
import { CONFIRMATION_PATH, ConsoleLinks } from '../texts.ts'
import { domainErrors } from '../errors.ts'
import { ATOM_TYPE, sendAtomFeed } from '../events/atom.ts'
import type { AddRoutes } from '../services.ts'

/** The Atom feed of a watch. Needs no key: the address is the secret. */
export const watchAtomRoute: AddRoutes = (app, _shared, { baseUrl, following: { watches } }) => {
  const pages = new ConsoleLinks(baseUrl)
  app.get<{ Params: { token: string } }>(
    '/w/:token.atom',
    {
      schema: {
        tags: ['domainwatch'],
        operationId: 'getWatchFeed',
        summary: 'Read the Atom feed of a watch',
        description:
          'Needs no key, because the address is secret. It stops working when the watch is deleted.',
        params: {
          type: 'object',
          properties: {
            token: string('Secret part of the address that was returned when the Atom feed was created'),
          },
        },
        response: {
          200: { description: 'Atom feed', content: { [ATOM_TYPE]: { schema: string() } } },
          304: { description: 'Not modified', type: 'null' },
          404: problem('There is no such Atom feed', domainErrors.watch_not_found()),
        },
      },
    },
    async (request, reply) => {
      const found = await watches.atomFeed(request.params.token, pages.sheet, addressClient(request.ip))
      if (found === undefined) throw domainErrors.watch_not_found()
      const self = publicUrl(baseUrl, request.raw.url ?? '')
      return sendAtomFeed(request, reply, found.feed, { self, alternate: pages.view(found.filters) })
    },
  )
}

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex',
  'cache-control': 'no-store',
}

type ConfirmationRequest = HttpRequest<{ Params: { token: string } }>

/**
 * The page of the link that the reader of a mail address gets. It confirms by a POST, because programs that check mails open
 * their links.
 */
export const confirmMailRoute: AddRoutes = (app, _shared, services) => {
  const { recipients } = services.following.watches
  const find = ({ ip, params }: ConfirmationRequest) => recipients.find(params.token, addressClient(ip))
  const url = `${CONFIRMATION_PATH}:token`
  // Not for scripts of other origins.
  const options = { config: { hasCors: 'never' }, schema: { hide: true } } as const

  app.get(url, options, async (request: ConfirmationRequest, reply) => {
    const found = await find(request)
    if (found === undefined) return send(reply, 404, GONE)
    return send(reply, 200, found.confirmed_at === null ? question(found.address) : confirmed(found.address))
  })

  app.post(url, options, async (request: ConfirmationRequest, reply) => {
    // Read first: a write takes a turn that all share.
    const found = await find(request)
    const isConfirmed = found !== undefined && (await recipients.confirm(request.params.token))
    return isConfirmed ? send(reply, 200, confirmed(found.address)) : send(reply, 404, GONE)
  })
}

const GONE = page(
  'El enlace no existe o expiró',
  'Si espera avisos, pida a quien creó la alerta que vuelva a agregar su dirección.',
)

const question = (address: string) =>
  page(
    '¿Recibir avisos de Catalejo?',
    `Un miembro de un grupo que usa Catalejo pidió enviar avisos de dominios .cl a <b>${escapeHtml(address)}</b>. ` +
      'Si no los quiere, cierre esta página: no recibirá ninguno.',
    '<form method="post"><button>Confirmar</button></form>',
  )

const confirmed = (address: string) =>
  page('Dirección confirmada', `<b>${escapeHtml(address)}</b> recibirá los avisos. Puede cerrar esta página.`)

function page(title: string, text: string, form = ''): string {
  return `<!doctype html>
<html lang="es">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>
  :root { color-scheme: light dark; font: 1.1rem/1.5 system-ui, sans-serif }
  body { max-width: 32rem; margin: 15vh auto; padding: 0 1rem; overflow-wrap: anywhere }
  button { font: inherit; padding: .5rem 1.5rem }
</style>
<main>
<h1>${title}</h1>
<p>${text}</p>
${form}
</main>
</html>
`
}

function send(reply: HttpReply, status: number, html: string): HttpReply {
  return reply.code(status).headers(HEADERS).type('text/html; charset=utf-8').send(html)
}
