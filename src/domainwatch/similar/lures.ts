import { HYPHEN } from './letters.ts'

/** Words that names are dressed up with to be taken for another's, in Chile above all. */
export const LURES: ReadonlySet<string> = new Set(
  (
    'acceso acceder access account actualizacion actualizar admin alerta app apps asistencia atencion ayuda banca bank ' +
    'blog bonos canal chat chile cl clave cliente clientes club com compra compras contacto corp correo credito creditos ' +
    'cuenta cuentas delivery descuento descuentos digital empresa empresas en enlinea envios factura facturas gob ' +
    'group grupo help home hogar hoy http https info informacion ingresa ingresar ingreso internet latam linea live ' +
    'login logon mail mall market master mi mis mobile movil net now oferta ofertas oficial online org pago pagos ' +
    'pay payment personas phone plus portal premio premios pro promo promociones puntos registro reserva sac secure ' +
    'segura seguro seguros service services servicio servicios shop sistema sitio sitioweb soporte spa store ' +
    'sucursal sucursalvirtual support tarjeta tarjetas tienda tiendas token transferencia transferencias tu unete ' +
    'validacion validar ventas verificacion verificar verify virtual vip web webmail webpay ww www'
  ).split(' '),
)

const A = 'a'.charCodeAt(0)
const LETTERS = 26

/** Follows a name letter by letter and tells where a lure ends: hyphens do not matter. */
class LureTrie {
  /** At `node * LETTERS + letter`: the next node; 0 for none, as none leads back to the first. */
  readonly #next: Uint16Array
  readonly #ends: Uint8Array

  /** @param words of the letters from a to z */
  constructor(words: readonly string[]) {
    const most = words.reduce((sum, word) => sum + word.length, 1)
    this.#next = new Uint16Array(most * LETTERS)
    this.#ends = new Uint8Array(most)
    let nodes = 1
    for (const word of words) {
      let node = 0
      for (const letter of word) {
        const place = node * LETTERS + letter.charCodeAt(0) - A
        node = this.#next[place] || (this.#next[place] = nodes++)
      }
      this.#ends[node] = 1
    }
  }

  /** The node behind a letter, from node 0 at the beginning on; -1 where no lure goes on so. */
  step(node: number, letter: number): number {
    if (letter === HYPHEN || node < 0) return node
    const place = letter - A
    return place < 0 || place >= LETTERS ? -1 : this.#next[node * LETTERS + place] || -1
  }

  isEnd(node: number): boolean {
    return node > 0 && this.#ends[node] === 1
  }
}

/** Of what stands before a name, from its begin; and of what stands behind one, from its end backwards. */
export const forwards = new LureTrie([...LURES])
export const backwards = new LureTrie(Array.from(LURES, (lure) => [...lure].toReversed().join('')))
