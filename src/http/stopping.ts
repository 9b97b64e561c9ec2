import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Makes `server.close()` end each connection as soon as its last answer has left. Node's own notion of an idle
 * connection includes one whose answer is still on its way to a slow reader, and cuts it short; and it looks only
 * once, so a connection that is busy then keeps the server open until its keep-alive time is over.
 */
export function endConnectionsOnClose(server: Server): void {
  /** Answers under way on each open connection. */
  const open = new Map<Socket, number>()
  let isClosing = false

  server.on('connection', (socket: Socket) => {
    open.set(socket, 0)
    socket.once('close', () => open.delete(socket))
  })

  server.on('request', ({ socket }, response) => {
    open.set(socket, (open.get(socket) ?? 0) + 1)
    // Comes once; a listener that knows that is dearer.
    response.on('close', () => {
      const left = (open.get(socket) ?? 1) - 1
      if (open.has(socket)) open.set(socket, left)
      if (isClosing && left === 0) socket.destroySoon()
    })
  })

  // What `close()` calls.
  server.closeIdleConnections = () => {
    isClosing = true
    for (const [socket, answers] of open) if (answers === 0) socket.destroy()
  }
}
