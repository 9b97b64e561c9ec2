import { pipeline, Transform, type Readable } from 'node:stream'
import { Silence, WrongLength } from './faults.ts'

export interface BodyLimits {
  /** The store may be silent for this long. Milliseconds. */
  readonly silenceMs: number
  /** The reader may take nothing for this long: every open body holds a connection. Milliseconds. */
  readonly stallMs: number
  /** Told of each chunk that passes. */
  readonly progress?: () => void
}

/**
 * A body that fails when it is not exactly `length` bytes long or stands still for too long. Destroying it ends
 * the request behind it.
 */
export function guardBody(body: Readable, length: number, limits: BodyLimits): Readable {
  const { silenceMs, stallMs, progress } = limits
  let received = 0
  let timer: NodeJS.Timeout | undefined

  const guarded = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      received += chunk.byteLength
      watch()
      progress?.()
      if (received > length) done(new WrongLength(`more than the ${length} bytes announced`))
      else done(null, chunk)
    },
    flush(done) {
      if (received === length) done()
      else done(new WrongLength(`${received} of ${length} bytes`))
    },
  })

  let stalledMs = 0
  function watch() {
    stalledMs = 0
    clearTimeout(timer)
    timer = setTimeout(onStandstill, silenceMs)
  }

  function onStandstill() {
    // Data that waits here to be read: not the store is slow, its reader is.
    if (guarded.readableLength > 0) {
      stalledMs += silenceMs
      if (stalledMs >= stallMs) guarded.destroy(new Silence(`nothing read for ${stallMs} ms`))
      else timer = setTimeout(onStandstill, silenceMs)
    } else {
      guarded.destroy(new Silence(`no byte for ${silenceMs} ms`))
    }
  }

  watch()
  // Errors reach the reader through `guarded` itself.
  pipeline(body, guarded, () => clearTimeout(timer))
  return guarded
}

/** Resolves when the first bytes can be read, or the end is reached; rejects when neither comes. */
export function firstBytes(body: Readable): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      body.off('readable', onReadable).off('error', settle).off('close', onClose)
      if (error === undefined) resolve()
      else reject(error)
    }
    const onReadable = () => settle()
    const onClose = () => settle(new WrongLength('closed before its first byte'))
    body.on('readable', onReadable).on('error', settle).on('close', onClose)
  })
}
