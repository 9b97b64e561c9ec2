/** Runs of a property that goes through a running service, unless TEST_PROPERTY_RUNS says otherwise. */
const FEW_RUNS = 5
/** Rounds of killing the service, unless TEST_KILL_ROUNDS says otherwise. */
const FEW_ROUNDS = 10

const { TEST_PROPERTY_RUNS, TEST_KILL_ROUNDS } = process.env

/**
 * How often a property is tried. TEST_PROPERTY_RUNS sets the most, `all` asks for as many as it takes to be sure.
 * @param all as many as it takes
 */
export function propertyRuns(all: number): number {
  return TEST_PROPERTY_RUNS === 'all' ? all : Math.min(all, Number(TEST_PROPERTY_RUNS ?? FEW_RUNS))
}

/** How often the service is killed, in all: an even number, as two data folders share the rounds. */
export const killRounds = (): number => 2 * Math.ceil(Number(TEST_KILL_ROUNDS ?? FEW_ROUNDS) / 2)
