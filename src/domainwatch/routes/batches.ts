import { bulkEndpoint } from '../../http/endpoint.ts'
import type { EndpointDocument } from '../../http/openapi/document.ts'
import { badParameter, httpErrors, missingParameter } from '../../http/errors.ts'
import { batchError, saveBatch } from '../batches.ts'
import { DISCARDED_RETENTION_DAYS, MAX_BATCH_RECORDS } from '../limits.ts'
import { bit, dateTime, RECORD_EXAMPLE } from '../schemas.ts'
import {
  answer,
  array,
  constant,
  integer,
  object,
  optional,
  problemWith,
  string,
  type JsonSchema,
} from '../../http/openapi/json-schema.ts'
import { EXPECTABLE_FIELDS, type ExpectableField } from '../queries-records.ts'
import { domainRecord } from '../record-fields.ts'
import { domainErrors } from '../errors.ts'
import { MAX_FAULTS, MAX_NOTE_CHARACTERS, MAX_AGENT_LENGTH } from '../parse-record.ts'
import { MAX_TAG_CHARACTERS, MAX_TAGS } from '../filtered-record.ts'
import { unreadableError } from '../tasks/parse-data.ts'
import type { AddRoutes } from '../services.ts'

const agent = optional(
  string({ minLength: 1, maxLength: MAX_AGENT_LENGTH, description: "Instead of the account's name" }),
)

const addBody = object(
  {
    data: array(
      object({
        domain: string({ description: 'Name without the `.cl` suffix', examples: ['catalejo'] }),
        length: integer({ description: 'Length of the name in characters', examples: [8] }),
        reserve: bit('Reserved (1) or not (0)'),
        status: bit('Registered (1) or free (0)'),
        date_reg: dateTime('Registration time'),
        agent,
      }),
      { maxItems: MAX_BATCH_RECORDS, description: 'Records to store' },
    ),
  },
  {
    examples: [
      { data: [{ domain: 'catalejo', length: 8, reserve: 0, status: 1, date_reg: '2025-12-31 14:30:34' }] },
    ],
  },
)

const storedAnswer = answer({ count: integer('Number of records stored') }, 'The batch was stored', {
  count: 2,
})

/** `data` is missing, or not a list of records. */
const UNREADABLE = [missingParameter('data'), badParameter('data', ''), httpErrors.unreadable_body()] as const

const faultyBatch = batchError(domainErrors.records_invalid(1), [
  { index: 0, field: 'length', msg: 'Falta el campo length' },
])

const batchFields = {
  count: constant(0),
  errors: array(
    object({ index: integer(), field: string(), msg: string() }),
    `Invalid records, at most the first ${MAX_FAULTS}`,
  ),
}

const updateBody = object(
  {
    data: array(
      object({
        domain: string('Name of a recorded domain, without the `.cl` suffix'),
        revision: optional(bit('Mark (1) for review or unmark (0)')),
        discarded: optional(bit('Discard (1) or restore (0)')),
        reserve: optional(bit('Reserved (1) or not (0)')),
        status: optional(bit('Registered (1) or free (0)')),
        agent,
        seen: optional(bit('Mark (1) as decided on or unmark (0)')),
        note: optional(
          string({
            maxLength: MAX_NOTE_CHARACTERS,
            description: 'New note; an empty text removes the note',
          }),
        ),
        tags: optional(
          array(string({ minLength: 1, maxLength: MAX_TAG_CHARACTERS }), {
            maxItems: MAX_TAGS,
            description:
              'New tags, in place of all; each consists of letters, digits and hyphens, and is folded to lower case',
          }),
        ),
        expect: optional(
          object(
            {
              status: optional(bit('Registered (1) or free (0)')),
              reserved: optional(bit('Reserved (1) or not (0)')),
              revision: optional(bit('Marked for review (1) or not (0)')),
              discarded: optional(bit('Discarded (1) or not (0)')),
              seen: optional(bit('Decided on (1) or not (0)')),
              date_mod: optional(dateTime('Time of the last change of the record')),
            } satisfies Record<ExpectableField, JsonSchema>,
            {
              additionalProperties: false,
              description:
                'Precondition: if the record differs, nothing of the batch is stored, and the response is 409',
            },
          ),
        ),
      }),
      { maxItems: MAX_BATCH_RECORDS, description: 'Marks to set' },
    ),
  },
  { examples: [{ data: [{ domain: 'catalejo', discarded: 1 }] }] },
)

/** The answer of `update` for records that are not as `expect` says. */
const changedRecords = problemWith(
  {
    count: constant(0),
    errors: array(
      object({
        index: integer('Position in the batch'),
        field: string('`expect`'),
        msg: string(),
        domain: string('Name without the `.cl` suffix'),
        fields: array(string({ enum: EXPECTABLE_FIELDS }), 'Fields that differ'),
        record: domainRecord,
      }),
      `Records that differ, at most the first ${MAX_FAULTS}`,
    ),
  },
  'A record differs from its precondition: nothing of the batch was stored',
  domainErrors.record_changed().with({
    fields: {
      count: 0,
      errors: [
        {
          index: 0,
          field: 'expect',
          msg: 'Ya no coincide: seen, date_mod',
          domain: 'catalejo',
          fields: ['seen', 'date_mod'],
          record: {
            ...RECORD_EXAMPLE,
            seen: 1,
            seen_by: 'grupo',
            seen_at: '2025-12-31 15:00:00',
            note: '',
            tags: ['oferta'],
            deleted_at: null,
            discarded_at: null,
          },
        },
      ],
    },
  }),
)

/** 50,000 records are some 5 MB of JSON; url-encoding may triple that. */
export const BATCH_BODY_BYTES = 32 * 1024 * 1024

interface BatchEndpoint extends Pick<
  EndpointDocument,
  'operation' | 'summary' | 'description' | 'body' | 'answers'
> {
  readonly action: 'add' | 'update'
  /** The status for a body that is not a list of records. */
  readonly unreadable: 400 | 500
  readonly ignoresUnknown: boolean
}

const ADD: BatchEndpoint = {
  action: 'add',
  unreadable: 500,
  ignoresUnknown: true,
  operation: 'addDomains',
  summary: 'Record domains in bulk',
  description: 'Updates domains that are recorded already. Stores the whole batch or nothing.',
  body: addBody,
  answers: {
    200: storedAnswer,
    500: problemWith(batchFields, 'Nothing was stored', faultyBatch, domainErrors.not_saved(), ...UNREADABLE),
  },
}

const UPDATE: BatchEndpoint = {
  action: 'update',
  unreadable: 400,
  ignoresUnknown: false,
  operation: 'updateDomains',
  summary: 'Mark recorded domains',
  description:
    `Sets the given marks and leaves the others. A discarded record is purged after ${DISCARDED_RETENTION_DAYS} days, ` +
    'unless the mark is removed before. A new status makes a record unseen. Stores the whole batch or nothing.',
  body: updateBody,
  answers: {
    200: storedAnswer,
    400: problemWith(
      batchFields,
      '`data` is missing or cannot be read',
      batchError(UNREADABLE[0]),
      ...UNREADABLE,
    ),
    409: changedRecords,
    500: problemWith(
      batchFields,
      'Nothing was stored',
      faultyBatch,
      domainErrors.names_not_recorded(1),
      domainErrors.not_saved(),
    ),
  },
}

/** Adds the endpoints that store a batch of records as a whole. */
export const batchRoutes: AddRoutes = (app, shared, { batches }) => {
  for (const { action, unreadable, ignoresUnknown, ...document } of [ADD, UPDATE]) {
    bulkEndpoint(app, shared, {
      route: `POST /api/v1/domainwatch/${action}`,
      scopes: ['write'],
      bodyLimit: BATCH_BODY_BYTES,
      parameters: {},
      ignoresUnknown,
      ...document,

      async handle({ body, identify, request }) {
        const { api, names, data: batch } = await batches.read(action, body)
        const identity = await identify(api, names)
        switch (batch.kind) {
          case 'unreadable':
            throw batchError(unreadableError(batch, unreadable))
          case 'faulty':
            throw batchError(domainErrors.records_invalid(batch.count), batch.faults)
          case 'rows':
            return { status: 200, count: await saveBatch(request, () => batches[action](identity, batch)) }
        }
      },
    })
  }
}
