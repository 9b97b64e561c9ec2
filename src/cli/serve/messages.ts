import type { Measurements } from '../../http/observability/metrics.ts'

export type FromWorker =
  /** It serves, and the first keys are made. */
  | { readonly kind: 'ready' }
  /** It wants everybody's measurements. */
  | { readonly kind: 'gather' }
  | { readonly kind: 'measured'; readonly round: number; readonly measurements: Measurements }

export type ToWorker =
  | { readonly kind: 'measure'; readonly round: number }
  | { readonly kind: 'gathered'; readonly all: readonly Measurements[] }
