import type { ServerResponse } from 'node:http'

/** Fires when the client goes away before its answer has left. Its request does not tell once its body was read, or had none. */
export function clientLeft(response: ServerResponse): AbortSignal {
  const leaving = new AbortController()
  const onClose = () => {
    if (!response.writableFinished) leaving.abort()
  }
  if (response.closed) onClose()
  else response.on('close', onClose)
  return leaving.signal
}
