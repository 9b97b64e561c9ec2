import { declareErrors, type HttpError } from '../lib/errors.ts'
import type { ResolvedLink } from './links/resolve-link.ts'
import type { ModifierFault } from './modifiers/index.ts'

/** Errors of image hosting. Clients rely on codes: one is never renamed, and `docs/api` lists them all. */
export const imageErrors = declareErrors({
  info_missing: [401, 'Falta información de la imagen'],
  image_damaged: [401, 'La imagen está dañada'],
  image_banned: [403, 'La imagen está bloqueada'],
  image_too_large: [413, (maxBytes: number) => `La imagen supera el máximo de ${maxBytes} bytes`],
  quota_images: [403, (max: string) => `La aplicación ya tiene el máximo de ${max}imágenes`],
  quota_bytes: [413, (usage: string) => `La imagen no cabe${usage}`],
  ticket_not_found: [404, 'El permiso de subida no existe'],
  ticket_spent: [403, 'El permiso de subida ya se usó'],
  ticket_expired: [403, 'El permiso de subida expiró'],
  ticket_bytes: [400, (max: number) => `La imagen supera el máximo de ${max} bytes del permiso de subida`],
  ticket_type: [
    400,
    (type: string, allowed: string) => `La imagen es ${type}, y el permiso de subida admite ${allowed}`,
  ],
  upload_type: [415, 'El tipo de contenido debe ser multipart/form-data o el de una imagen, como image/png'],
  upload_not_found: [404, 'La subida no existe'],
  upload_unfinished: [409, 'La subida aún no termina'],
  upload_offset: [409, 'La cabecera Upload-Offset no es donde va la subida'],
  upload_parts: [400, 'La subida llegó en demasiadas partes'],
  part_type: [415, 'El tipo de contenido debe ser application/offset+octet-stream'],
  tus_version: [412, 'La cabecera Tus-Resumable debe ser 1.0.0'],
  too_many_uploads: [429, 'Hay demasiadas subidas sin terminar'],
  not_saved: [500, 'No se han podido guardar los datos'],
  client_gone: [499, 'La conexión se cerró antes de terminar'],

  hash_missing: [401, 'Ha fallado la solicitud'],
  account_without_aliases: [400, 'Una cuenta con / en su nombre no tiene alias'],
  image_shared: [403, 'La imagen también es de otra clave de la aplicación'],
  image_not_found: [404, 'La imagen no existe'],
  defined_by_file: [409, 'El nombre está definido en el archivo de configuración'],
  too_many_definitions: [409, (max: number) => `Ya hay ${max} definiciones`],
  hash_or_dhash_missing: [400, 'La solicitud debe llevar el parámetro hash o el parámetro dhash'],

  ban_not_found: [404, 'El bloqueo no existe'],
  too_many_bans: [409, (max: number) => `La aplicación ya tiene ${max} bloqueos`],

  hook_not_found: [404, 'El webhook no existe'],
  too_many_hooks: [409, (max: number) => `La aplicación ya tiene ${max} webhooks`],

  image_lost: [410, 'Los datos de la imagen se perdieron, hay que subirla de nuevo'],
  modifier_invalid: [400, (modifier: string, fault: string) => `El modificador ${modifier} ${fault}`],
  image_too_heavy: [
    400,
    'La imagen es demasiado pesada para este modificador: pida un solo cuadro (frame_0) o menos tamaño',
  ],
  transformation_failed: [500, 'No se pudo transformar la imagen'],
  range_not_satisfiable: [416, 'El rango pedido está fuera de la imagen'],
  link_expired: [410, 'El enlace expiró'],
  signature_invalid: [403, 'La firma del enlace no es válida'],
  signature_missing: [403, 'La imagen solo se entrega por enlaces firmados'],
  preset_required: [403, 'La imagen solo se entrega sin modificar o en un tamaño con nombre'],
})

/** The error for a link that resolves to no image. */
export function linkError(link: Exclude<ResolvedLink, { kind: 'image' }>): HttpError {
  switch (link.kind) {
    case 'no-format':
      return imageErrors.image_not_found()
    case 'fault':
      return imageErrors.modifier_invalid(link.fault.token, faultText(link.fault))
    case 'no-watermark':
      return imageErrors.modifier_invalid(
        `wm_${link.name}`,
        'no es válido: su imagen no es de la misma aplicación',
      )
    case 'expired':
      return imageErrors.link_expired()
    case 'forged':
      // Not secret: it tells applications that sign links themselves in which order and form.
      return imageErrors.signature_invalid().with({ fields: { signed: link.signed } })
    case 'unsigned':
      return imageErrors.signature_missing()
    case 'no-preset':
      return imageErrors.preset_required()
  }
}

function faultText(fault: ModifierFault): string {
  switch (fault.kind) {
    case 'unknown':
      return 'no existe'
    case 'repeated':
      return 'está repetido'
    case 'range':
      return `no es válido: ${fault.takes}`
    case 'last':
      return 'no es válido: va al final'
  }
}
