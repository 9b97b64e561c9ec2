import { isUnsigned, url, type Tokens } from './links.ts'

/** What next/image passes to a loader. */
export interface LoaderProps {
  readonly src: string
  readonly width: number
  readonly quality?: number | undefined
}

/**
 * Returns a loader for next/image. Its `src` is a hash, an `alias()` or a link; signed links and anything else are loaded as they are.
 * @param base the address of the service
 * @param tokens of all links
 */
export const loader =
  (base: string, tokens: Tokens = { f: 'auto' }) =>
  ({ src, width, quality }: LoaderProps): string =>
    isUnsigned(src) ? url(base, src, { ...tokens, w: width, q: quality ?? tokens.q }) : src
