import { initial } from './001-initial.ts'
import { changes } from './002-changes.ts'
import { coordination } from './003-coordination.ts'
import { instance } from './004-instance.ts'
import { moves } from './005-moves.ts'
import { history } from './006-history.ts'
import { watches } from './007-watches.ts'
import { images } from './008-images.ts'
import { delivery } from './009-delivery.ts'
import { administrators } from './010-administrators.ts'
import { feeds } from './011-feeds.ts'
import { keyLimits } from './012-key-limits.ts'
import { imageTriggers } from './013-image-triggers.ts'

/** One step of the schema. Its place in the list is its version; a released step never changes. */
export interface Migration {
  readonly sqlite: string
  /** Texts sort by code point (`COLLATE "C"`), as they do in SQLite: order and cursors must agree. */
  readonly postgres: string
}

export const migrations: readonly Migration[] = [
  initial,
  changes,
  coordination,
  instance,
  moves,
  history,
  watches,
  images,
  delivery,
  administrators,
  feeds,
  keyLimits,
  imageTriggers,
]

/** The version of the schema that this program works with. */
export const SCHEMA = migrations.length
