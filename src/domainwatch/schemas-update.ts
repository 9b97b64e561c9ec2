import {
  array,
  constant,
  integer,
  object,
  optional,
  string,
  type JsonSchema,
} from '../http/openapi/json-schema.ts'
import { EXPECTABLE_FIELDS, type ExpectableField } from './queries-expected.ts'
import { MAX_BATCH_RECORDS } from './limits.ts'
import { furtherFields } from './record-fields.ts'
import { CHANGED_MEANWHILE, MAX_FAULTS, MAX_NOTE_CHARACTERS } from './parse-record.ts'
import { agent, bit, dateTime, RECORD_EXAMPLE, recordFields } from './schemas.ts'
import { MAX_TAG_CHARACTERS, MAX_TAGS } from './tags.ts'

export const updateBody = object(
  {
    data: array(
      object({
        domain: string({ description: 'Name of a recorded domain, without the `.cl` suffix' }),
        revision: optional(bit('Mark (1) for review or unmark (0)')),
        discarded: optional(bit('Discard (1) or take back (0)')),
        reserve: optional(bit('Reserved (1) or not (0)')),
        status: optional(bit('Bought (1) or not (0)')),
        agent,
        seen: optional(bit('Decided on (1) or not (0)')),
        note: optional(
          string({
            maxLength: MAX_NOTE_CHARACTERS,
            description: 'Replaces the note; an empty text removes it',
          }),
        ),
        tags: optional(
          array(string({ minLength: 1, maxLength: MAX_TAG_CHARACTERS }), {
            maxItems: MAX_TAGS,
            description: 'Replaces the tags; each of letters, digits and hyphens, folded to lower case',
          }),
        ),
        expect: optional(
          object(
            {
              status: optional(bit('Bought or not')),
              reserved: optional(bit('Reserved or not')),
              revision: optional(bit('Marked for review or not')),
              discarded: optional(bit('Discarded or not')),
              seen: optional(bit('Decided on or not')),
              date_mod: optional(dateTime('When the record last changed')),
            } satisfies Record<ExpectableField, JsonSchema>,
            {
              additionalProperties: false,
              description:
                'What the record must still be like: else nothing of the batch is stored, and the answer is 409',
            },
          ),
        ),
      }),
      { maxItems: MAX_BATCH_RECORDS, description: 'The marks' },
    ),
  },
  { examples: [{ data: [{ domain: 'catalejo', discarded: 1 }] }] },
)

/** The answer of `update` for records that are not as `expect` says. */
export const changedRecords = object(
  {
    status: constant(409),
    count: constant(0),
    msg: string(),
    errors: array(
      object({
        index: integer({ description: 'Position in the batch' }),
        field: string({ description: '`expect`' }),
        msg: string(),
        domain: string({ description: 'Name without the `.cl` suffix' }),
        fields: array(string({ enum: EXPECTABLE_FIELDS }), { description: 'Fields that differ' }),
        record: object(
          { ...recordFields, ...furtherFields },
          { description: 'The record as it is now, with all fields' },
        ),
      }),
      { description: `The records that are not as expected, at most the first ${MAX_FAULTS}` },
    ),
  },
  {
    description: 'Records are not as expected: nothing of the batch is stored',
    examples: [
      {
        status: 409,
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
        msg: CHANGED_MEANWHILE,
      },
    ],
  },
)
