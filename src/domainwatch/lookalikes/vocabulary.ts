import { Vocabulary } from '../../lib/lookalikes/index.ts'
import { builtInWords } from '../words/dictionary.ts'

/** Shorter words would be found in any text. */
const MIN_WORD = 3

/** Words that phishing names put next to a brand, mostly in Chile. Operators add and remove some with a setting. */
const PHISHING_KEYWORDS: readonly string[] = (
  'acceso acceder access account actualizacion actualizar aduana admin alerta app apps asistencia atencion autorizado ayuda ' +
  'banca bank beneficio beneficios blog bonificacion bono bonos canal chat chile cl clave cliente clientes club com ' +
  'comercial compra compras confirmacion confirmar contacto corp correo corporativo credito creditos cuenta cuentas cupo ' +
  'cupon cupones delivery descuento descuentos despacho despachos devolucion devoluciones digital dte empresa empresas en ' +
  'encomienda encomiendas enlinea entrega entregas envio envios ferias factura facturas giro giros gob gratis group grupo ' +
  'help home hogar hoy http https impuesto impuestos info informacion ingresa ingresar ingreso internet latam linea live ' +
  'login logon mail mall market master mi mis mobile movil multa multas net now oferta ofertas oficial online operacion ' +
  'org outlet pago pagos paquete paquetes pay payment pedido pedidos personas phone plus portal premio premios pro promo ' +
  'promociones puntos reclamo reembolso reembolsos registro renta reserva retiro sac secure segura seguridad seguro ' +
  'seguros seguimiento service services servicio servicios shop sistema sitio sitioweb soporte spa store sucursal ' +
  'sucursalvirtual support tarjeta tarjetas tecnico tienda tiendas token tramite tramites transferencia transferencias tu ' +
  'unete usuario usuarios validacion validar ventas verificacion verificar verify virtual vip web webmail webpay ww www'
).split(' ')

/** @param changes words to add to the phishing keywords, or to remove if they begin with a hyphen */
export function readVocabulary(changes: readonly string[] = []): Vocabulary {
  const keywords = new Set(PHISHING_KEYWORDS)
  for (const entry of changes) {
    if (entry.startsWith('-')) keywords.delete(entry.slice(1))
    else keywords.add(entry)
  }
  return new Vocabulary(longWords, keywords)
}

/** Read each time it is iterated over. */
const longWords: Iterable<string> = {
  *[Symbol.iterator]() {
    for (const word of builtInWords()) if (word.length >= MIN_WORD) yield word
  },
}
