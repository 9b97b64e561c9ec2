import { clientAbort } from '../../http/client.ts'
import { simpleEndpoint } from '../../http/endpoint.ts'
import { missingParameter } from '../../http/errors.ts'
import {
  answer,
  array,
  integer,
  nullable,
  object,
  problem,
  string,
  listAnswer,
} from '../../http/openapi/json-schema.ts'
import {
  choice,
  integer as integerParameter,
  text,
  type Values,
  type Parameter,
} from '../../http/parameters.ts'
import { localDateTime } from '../../lib/dates.ts'
import { domainErrors } from '../errors.ts'
import { toConditions, parseSavedFilters, serializeFilters, type SavedFilters } from '../filters.ts'
import { MAX_RULES, ruleFilters, toFilters } from '../rules/index.ts'
import { previewRule, RECENT_DAYS } from '../rules/preview.ts'
import type { RuleAction, RuleProperties, RuleRow } from '../rules/queries.ts'
import { bit, dateTime, recordFields, RECORD_EXAMPLE } from '../schemas.ts'
import { MAX_WATCH_NAME_CHARACTERS, nameParameter } from './watch-schemas.ts'
import type { AddRoutes } from '../services.ts'
import { type Reader, randomId } from '../../storage/database/database.ts'
import { lockAccount } from '../../storage/database/dialect.ts'
import * as queries from '../rules/queries.ts'

const RULES_PATH = '/api/v1/domainwatch/rules'
const ACTIONS: readonly RuleAction[] = ['hide', 'tag']
/** Records in a preview. */
const SAMPLE = 10

const ruleParameters = {
  ...ruleFilters,
  name: nameParameter('Name of the rule'),
  action: choice('What the rule does with matching records: hide or tag them', ACTIONS),
  tag: {
    ...ruleFilters.tag,
    description: 'With `action=tag`, the tag that the rule adds; else a filter: only records with this tag',
  },
}
type GivenRule = Values<typeof ruleParameters>

const which = {
  id: { ...text('ID of the rule', MAX_WATCH_NAME_CHARACTERS), required: true, example: 'k3J9x0aQ_-Zb' },
}

const ruleId = string('ID of the rule')
const ruleAnswer = answer({ id: ruleId }, 'The rule', { id: 'k3J9x0aQ_-Zb' })

const rulesAnswer = listAnswer(
  object(
    {
      id: ruleId,
      name: string('Name of the rule'),
      action: string({ enum: ACTIONS, description: 'What the rule does with matching records' }),
      tag: nullable(string('Tag that the rule adds; null for a rule that hides')),
      filters: object({}, { description: 'Filters as given', additionalProperties: { type: 'string' } }),
      paused: bit('Whether the rule is paused (1). A paused rule does nothing'),
      owner: string('Account that created the rule'),
      created_at: dateTime('Creation time, in the time zone of the service'),
    },
    { title: 'Rule' },
  ),
  { count: 'Number of rules', data: 'The rules of the group, oldest first', description: 'The rules' },
  {
    id: 'k3J9x0aQ_-Zb',
    name: 'Con número',
    action: 'hide',
    tag: null,
    filters: { digits: '1' },
    paused: 0,
    owner: 'grupo',
    created_at: '2026-01-05 09:10:00',
  },
)

const previewAnswer = answer(
  {
    matches: integer('Number of records that match now'),
    last_30_days: integer(
      `Number of matching records that were recorded or freed in the last ${RECENT_DAYS} days`,
    ),
    in_review: integer('Number of matching records that are marked for review'),
    sample: array(object(recordFields), `The ${SAMPLE} matching records with the newest registration`),
  },
  'Records that the rule would match',
  { matches: 4131, last_30_days: 212, in_review: 3, sample: [RECORD_EXAMPLE] },
)

const ruleGone = problem('There is no such rule', domainErrors.rule_not_found())
const invalidRule = problem(
  'A parameter is invalid, or there is no filter',
  domainErrors.rule_without_filters(),
)

export const rulesRoutes: AddRoutes = (app, shared, services) => {
  const { clock, lists, rules, timeZone } = services
  simpleEndpoint(app, shared, {
    route: `GET ${RULES_PATH}`,
    scopes: ['read', 'write'],
    parameters: {},
    operation: 'listRules',
    summary: 'List the rules of the group',
    answers: { 200: rulesAnswer },
    async handle() {
      const data = (await rules.list()).map((rule) => ruleJson(rule, timeZone))
      return { status: 200, count: data.length, data }
    },
  })

  simpleEndpoint(app, shared, {
    route: `POST ${RULES_PATH}`,
    scopes: ['write'],
    parameters: {
      ...ruleParameters,
      name: { ...ruleParameters.name, required: true, example: 'Con número' },
      action: { ...ruleParameters.action, required: true, example: 'hide' },
    },
    operation: 'createRule',
    summary: 'Create a rule',
    description:
      'A `hide` rule keeps records out of `queue` and of messages of watches; the filter `hidden` finds them. A `tag` rule tags records ' +
      'when they are recorded or change status.',
    answers: {
      200: ruleAnswer,
      400: invalidRule,
      409: problem('The group has the maximum number of rules', domainErrors.too_many_rules(MAX_RULES)),
    },
    async handle({ values, identity }) {
      const { name, action } = values
      if (name === undefined) throw missingParameter('name')
      if (action === undefined) throw missingParameter('action')
      const rule = edited({ name, action, tag: null, filters: '{}', paused: 0 }, values)
      const id = await rules.create(identity.accountId, rule, clock)
      await shared.audit.record(identity, 'rule.create', `${id} ${name}`)
      return { status: 200, id }
    },
  })

  simpleEndpoint(app, shared, {
    route: `POST ${RULES_PATH}/update`,
    scopes: ['write'],
    parameters: {
      ...which,
      ...ruleParameters,
      paused: integerParameter('Whether the rule is paused (1). A paused rule does nothing', 0, 1),
    },
    operation: 'updateRule',
    summary: 'Edit or pause a rule',
    description: 'Changes the given properties. The filters are one property: any of them replaces all.',
    answers: { 200: ruleAnswer, 400: invalidRule, 404: ruleGone },
    async handle({ values, identity }) {
      const { id = '', paused, ...others } = values
      await rules.edit(identity.accountId, id, (rule) => {
        return { ...edited(rule, others), paused: paused ?? rule.paused }
      })
      await shared.audit.record(identity, 'rule.update', id)
      return { status: 200, id }
    },
  })

  simpleEndpoint(app, shared, {
    route: `DELETE ${RULES_PATH}`,
    scopes: ['write'],
    parameters: which,
    operation: 'deleteRule',
    summary: 'Delete a rule',
    description: 'Shows the records that the rule hid. Tags that it added stay.',
    answers: { 200: ruleAnswer, 404: ruleGone },
    async handle({ values: { id = '' }, identity }) {
      await rules.remove(identity.accountId, id)
      await shared.audit.record(identity, 'rule.delete', id)
      return { status: 200, id }
    },
  })

  simpleEndpoint(app, shared, {
    route: `POST ${RULES_PATH}/preview`,
    scopes: ['write'],
    parameters: ruleParameters,
    operation: 'previewRule',
    summary: 'Preview a rule',
    description: 'Counts the records that a rule of these parameters would match. Stores nothing.',
    answers: { 200: previewAnswer, 400: invalidRule },
    async handle({ values, identity: { accountId }, reply }) {
      const filters = toFilters(filtersIn(values, values.action))
      if (toConditions(filters).length === 0) throw domainErrors.rule_without_filters()
      const left = clientAbort(reply.raw)
      const counts = await previewRule(services, filters, accountId, left)
      const newest = { filters, ascending: false, limit: SAMPLE }
      const { json } = await lists.page(newest, undefined, accountId, () => left)
      return { status: 200, ...counts, sample: JSON.parse(json.toString()) }
    },
  })
}

/** Returns the filters of a request. The tag of a rule that tags is none of them. */
function filtersIn(
  { name: _name, action: _action, tag, ...others }: GivenRule,
  action: RuleAction | undefined,
) {
  return { ...others, tag: action === 'tag' ? undefined : tag }
}

/** Returns what an edit makes of a rule. @throws HttpError 400 */
function edited(rule: RuleProperties, values: GivenRule): RuleProperties {
  const { name = rule.name, action = rule.action } = values
  const wanted = filtersIn(values, action)
  const isGiven = Object.keys(serializeFilters(wanted)).length > 0
  const filters = isGiven ? kept(wanted) : parseSavedFilters(rule.filters)
  if (Object.keys(filters).length === 0) throw domainErrors.rule_without_filters()
  const tag = action === 'tag' ? (values.tag ?? rule.tag) : null
  if (action === 'tag' && tag === null) throw missingParameter('tag')
  return { ...rule, name, action, tag, filters: JSON.stringify(filters) }
}

/** Returns filters to be stored, without those that let every record through. @throws HttpError 400 */
function kept(wanted: Values<typeof ruleFilters>): SavedFilters {
  return toConditions(toFilters(wanted)).length === 0 ? {} : serializeFilters(wanted)
}

function ruleJson({ filters, created_at, ...rule }: RuleRow, timeZone: string) {
  return {
    ...rule,
    filters: parseSavedFilters(filters),
    created_at: localDateTime(created_at, timeZone),
  }
}

/** Views of an account. */
export const MAX_VIEWS = 100
export const MAX_VIEW_NAME_CHARACTERS = 60
const MAX_FILTERS_CHARACTERS = 2_000
const MAX_ID_CHARACTERS = 100

const VIEW_EXAMPLE = { name: 'Casas libres', filters: 'word=casa&status=0', shared: 1 }
const whichView = { ...text('ID of the view', MAX_ID_CHARACTERS), example: 'k3J9x0aQ_-Zb' }

const viewFilters: Parameter<string> = {
  ...text('Filters of the view, as the query of a URL', MAX_FILTERS_CHARACTERS),
  schema: { type: 'string', minLength: 1, maxLength: MAX_FILTERS_CHARACTERS },
  parse(given) {
    const value = new URLSearchParams(given).toString()
    if (value !== '' && value.length <= MAX_FILTERS_CHARACTERS) return { value }
    return { takes: `debe ser la consulta de una URL, de 1 a ${MAX_FILTERS_CHARACTERS} caracteres` }
  },
}

const viewId = string('ID of the view')
const viewAnswer = answer({ id: viewId }, 'The view', { id: 'k3J9x0aQ_-Zb' })
const viewsAnswer = listAnswer(
  object(
    {
      id: viewId,
      name: string('Name of the view'),
      filters: string('Filters of the view, as the query of a URL'),
      shared: bit('Whether the whole group sees the view (1)'),
      owner: string('Account that saved the view, the only one that can change it'),
    },
    { title: 'View' },
  ),
  { count: 'Number of views', data: 'Views, the oldest first', description: 'The views' },
  { id: 'k3J9x0aQ_-Zb', ...VIEW_EXAMPLE, owner: 'grupo' },
)

const ofAnother = problem('Another account shares the view', domainErrors.view_owner_only())
const viewGone = problem('There is no such view', domainErrors.view_not_found())

/** Saved views: filters under a name. Only the owner changes a view, also one that the group sees. */
export const viewsRoutes: AddRoutes = (app, shared, { clock, database }) => {
  simpleEndpoint(app, shared, {
    route: 'GET /api/v1/domainwatch/views',
    scopes: ['read', 'write'],
    parameters: {},
    operation: 'listViews',
    summary: 'List saved views of the account, and those that others share',
    answers: { 200: viewsAnswer },
    async handle({ identity }) {
      const data = await database.all(queries.viewsFor(identity.accountId))
      return { status: 200, count: data.length, data }
    },
  })

  simpleEndpoint(app, shared, {
    route: 'POST /api/v1/domainwatch/views',
    scopes: ['write'],
    parameters: {
      id: { ...whichView, description: 'ID of the view to change; without it, a new view is saved' },
      name: { ...nameParameter('Name of the view', MAX_VIEW_NAME_CHARACTERS), example: VIEW_EXAMPLE.name },
      filters: { ...viewFilters, example: VIEW_EXAMPLE.filters },
      shared: integerParameter('Whether the whole group sees the view (1)', 0, 1),
    },
    operation: 'saveView',
    summary: 'Save or change a view',
    description:
      'A new view needs `name` and `filters`. Changes the given properties of a view of the account if `id` is given.',
    answers: {
      200: viewAnswer,
      403: ofAnother,
      404: viewGone,
      409: problem('The account has the maximum number of views', domainErrors.too_many_views(MAX_VIEWS)),
    },
    handle({ values, identity: { accountId } }) {
      return database.transaction(async (tx) => {
        await tx.all(lockAccount(database.dialect, accountId))
        const known = values.id === undefined ? undefined : await ownView(tx, accountId, values.id)
        const {
          name = known?.name,
          filters: query = known?.filters,
          shared: isShared = known?.shared,
        } = values
        if (name === undefined) throw missingParameter('name')
        if (query === undefined) throw missingParameter('filters')
        const view = { name, filters: query, shared: isShared ?? 0 }
        if (values.id !== undefined) {
          await tx.run(queries.updateView(values.id, view))
          return { status: 200, id: values.id }
        }
        const { count = 0 } = (await tx.first(queries.countViews(accountId))) ?? {}
        if (count >= MAX_VIEWS) throw domainErrors.too_many_views(MAX_VIEWS)
        const created = randomId()
        await tx.run(queries.insertView(created, accountId, view, clock.now()))
        return { status: 200, id: created }
      })
    },
  })

  simpleEndpoint(app, shared, {
    route: 'DELETE /api/v1/domainwatch/views',
    scopes: ['write'],
    parameters: { id: { ...whichView, required: true } },
    operation: 'deleteView',
    summary: 'Delete a saved view',
    answers: { 200: viewAnswer, 403: ofAnother, 404: viewGone },
    handle({ values, identity }) {
      const known = values.id ?? ''
      return database.transaction(async (tx) => {
        await ownView(tx, identity.accountId, known)
        await tx.run(queries.deleteView(known))
        return { status: 200, id: known }
      })
    },
  })
}

/** @throws HttpError 403 if the view is another account's, 404 */
async function ownView(tx: Reader, account: number, known: string): Promise<queries.ViewProperties> {
  const view = await tx.first(queries.visibleView(known, account))
  if (view === undefined) throw domainErrors.view_not_found()
  if (view.account_id !== account) throw domainErrors.view_owner_only()
  return view
}
