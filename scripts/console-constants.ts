/** What the console has to know about the service without asking it: limits, and names that the API uses. */
import { WATCH_CHOICES } from '../src/domainwatch/events/event.ts'
import { MAX_FILTER_CHARACTERS } from '../src/domainwatch/filter-kinds.ts'
import { MAX_WORDS } from '../src/domainwatch/filters.ts'
import * as limits from '../src/domainwatch/limits.ts'
import { LIST_ORDERS } from '../src/domainwatch/list/order.ts'
import { MAX_ADDRESS_CHARACTERS } from '../src/deliveries/http-client.ts'
import { MAX_AGENT_LENGTH, MAX_NOTE_CHARACTERS } from '../src/domainwatch/parse-record.ts'
import { MAX_WATCH_NAME_CHARACTERS } from '../src/domainwatch/routes/watch-schemas.ts'
import { NOT_IN_RULES } from '../src/domainwatch/rules/index.ts'
import { OBJECTION_DAYS, MAX_TAG_CHARACTERS, MAX_TAGS } from '../src/domainwatch/filtered-record.ts'
import { DELIVERIES_DAYS, MAX_KEPT_BODIES } from '../src/deliveries/delivery-attempt.ts'
import { MAX_TO_CHARACTERS } from '../src/domainwatch/watches/destinations.ts'
import { MAX_SHARED } from '../src/domainwatch/watches/edit-watch.ts'
import { MAX_VIEW_NAME_CHARACTERS, MAX_VIEWS } from '../src/domainwatch/routes/saved-filters.ts'
import { MAX_REPLAYS, MAX_WATCHES, SECRETS_OVERLAP_HOURS } from '../src/domainwatch/watches/index.ts'
import { MAX_ACCOUNT_CHARACTERS, MAX_RATE, PERIODS, SCOPES } from '../src/http/auth/key-limits.ts'
import { mimeOf } from '../src/lib/image-metadata/index.ts'
import { DELIVERY_MODES } from '../src/imagestore/links/link.ts'
import { TRASH_DAYS } from '../src/imagestore/queries.ts'
import { MAX_TICKET_USES } from '../src/imagestore/tickets.ts'
import { MAX_NAME_CHARACTERS } from '../src/imagestore/upload-input.ts'

const CONSTANTS = {
  CLAIM_MINUTES: limits.CLAIM_MINUTES,
  DELIVERIES_DAYS,
  DISCARDED_RETENTION_DAYS: limits.DISCARDED_RETENTION_DAYS,
  MAX_ACCOUNT_CHARACTERS,
  MAX_ADDRESS_CHARACTERS,
  MAX_AGE: limits.MAX_AGE,
  MAX_AGENT_CHARACTERS: MAX_AGENT_LENGTH,
  MAX_DEMAND: limits.MAX_DEMAND,
  MAX_DROPS: limits.MAX_DROPS,
  MAX_FILTER_CHARACTERS,
  MAX_IMAGE_NAME_CHARACTERS: MAX_NAME_CHARACTERS,
  MAX_KEPT_BODIES,
  MAX_LABEL_CHARACTERS: limits.MAX_LABEL_CHARACTERS,
  MAX_NOTE_CHARACTERS,
  MAX_PAGE_RECORDS: limits.MAX_PAGE_RECORDS,
  MAX_QUEUE_RECORDS: limits.MAX_QUEUE_RECORDS,
  MAX_RATE,
  MAX_REPLAYS,
  MAX_SHARED_WATCHES: MAX_SHARED,
  MAX_TAGS,
  MAX_TAG_CHARACTERS,
  MAX_TICKET_USES,
  MAX_TO_CHARACTERS,
  MAX_VIEWS,
  MAX_VIEW_NAME_CHARACTERS,
  MAX_WATCHES,
  MAX_WATCH_NAME_CHARACTERS,
  MAX_WORDS,
  OBJECTION_DAYS,
  SECRETS_OVERLAP_HOURS,
  TRASH_DAYS,
  DELIVERY_MODES,
  IMAGE_TYPES: Object.values(mimeOf),
  LIST_ORDERS,
  NOT_IN_RULES,
  RATE_PERIODS: Object.keys(PERIODS),
  SCOPES,
  WATCH_CHOICES,
}

/** The module of the console that holds them. */
export const consoleConstants = (): string =>
  `// Generated from the constants of src/ by npm run console (scripts/console-constants.ts). Do not edit.\n\n${Object.entries(
    CONSTANTS,
  )
    .map(([name, value]) =>
      typeof value === 'number'
        ? `export const ${name} = ${value}\n`
        : `export const ${name} = ${JSON.stringify(value)} as const\n`,
    )
    .join('')}`
