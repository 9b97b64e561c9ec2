import { readFileSync } from 'node:fs'
import { buildTrie, splitBy, type WordTrie } from '../lib/words/index.ts'
import { Vocabulary } from '../lib/lookalikes/index.ts'

/** Returns the words of a name; none if it cannot be split. */
export type SplitName = (name: string) => readonly string[]

/** Spanish and English words by frequency, one per line. */
const WORDS = new URL('../../assets/words/words.txt', import.meta.url)

/** Words of the operator rank after this many: brands and places are more relevant than rare words. */
const RANK_OF_OWN = 5_000

let builtIn: Dictionary | undefined

/**
 * Returns the words that names are split into. All services of a process share the dictionary without changes.
 * @param changes words to add to the built-in ones, or to remove if they begin with a hyphen
 */
export function readDictionary(changes: readonly string[]): Dictionary {
  if (changes.length > 0) return new Dictionary(changes)
  builtIn ??= new Dictionary([])
  return builtIn
}

/** The words that names are split into. Made by `readDictionary`. */
export class Dictionary {
  readonly #words: readonly string[]
  #trie: WordTrie | undefined
  #split: SplitName | undefined

  constructor(changes: readonly string[]) {
    const removed = new Set(changes.filter((entry) => entry.startsWith('-')).map((entry) => entry.slice(1)))
    const added = changes.filter((entry) => !entry.startsWith('-') && !removed.has(entry))
    const words = builtInWords().filter((word) => !removed.has(word))
    this.#words = [...words.slice(0, RANK_OF_OWN), ...added, ...words.slice(RANK_OF_OWN)]
  }

  /** In shared memory, for splitters of other threads. Built on first use, because that takes some 0.1 s. */
  get trie(): WordTrie {
    this.#trie ??= buildTrie(this.#words)
    return this.#trie
  }

  /** Returns the words of a name; none if it cannot be split. */
  readonly split = (name: string): readonly string[] => {
    this.#split ??= splitBy(this.trie)
    return this.#split(name)
  }
}

/** The most frequent first. */
export function builtInWords(): readonly string[] {
  const lines = readFileSync(WORDS, 'utf8').split('\n')
  return lines.filter((line) => line !== '' && !line.startsWith('#'))
}

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
