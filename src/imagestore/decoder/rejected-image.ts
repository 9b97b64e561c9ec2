import type { ImageFault } from './protocol.ts'

/** The file is not an image that is accepted. The message is for the log. */
export class RejectedImage extends Error {
  readonly fault: ImageFault

  constructor(message: string, fault: ImageFault) {
    super(message)
    this.fault = fault
  }
}

/** The file does not hold as many bytes as were stored. */
export class AlteredImage extends Error {}
