#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A sampled controller at 100 Hz with a noisy sensor: the state at the end has the same digits for every output interval, by
# adaptive and by fixed steps, also where the run is interrupted and continued; unless outputs at their times are asked for. Without
# sampled devices that is the default.
set -uo pipefail

# shellcheck source=test/cli/expect.sh
. "$(dirname "$0")/expect.sh"

cat >loop.yaml <<END
calder: 1
gravity: [0, -9.81, 0]
bodies: {arm: {mass: 2 kg, rod: {from: [0, 0, 0], to: [1 m, 0, 0]}}}
joints: {hinge: {type: revolute, to: arm}}
devices:
  angle: {type: encoder, joint: hinge, resolution: 0.01 deg, noise: 0.01 deg, sample_period: 1 ms}
  control: {type: pid, joint: hinge, measured: "device(angle.position)", set_point: 1, proportional: 60, integral: 40, derivative: 9,
            derivative_filter: 20 ms, lower: -40, upper: 40, sample_period: 10 ms}
run: {duration: 1.5 s, output: {interval: 10 ms, signals: [q, u, device]}}
END
sed 's/duration: 1.5 s,/& whole_steps: false,/' loop.yaml >cut.yaml
end_of() { tail -n 1 "$1"; }

for method in "--method dopri5" "--method rk4 --step 0.0007"; do
	# shellcheck disable=SC2086
	calder 0 run loop.yaml $method -q -i 0 -o every.csv
	skip_without_yaml
	for interval in 0.0003 0.0033 0.01 0.05 0.17 2; do
		# shellcheck disable=SC2086
		calder 0 run loop.yaml $method -q -i $interval -o some.csv
		[ "$(end_of some.csv)" = "$(end_of every.csv)" ] || fail "$method, interval $interval: other digits at the end"
		[ "$(wc -l <some.csv)" -ge 3 ] || fail "interval $interval: too few samples"
	done
	# shellcheck disable=SC2086
	calder 0 run cut.yaml $method -q -i 0.0033 --whole-steps -o some.csv
	[ "$(end_of some.csv)" = "$(end_of every.csv)" ] || fail "$method: --whole-steps is not as the key"
	# shellcheck disable=SC2086
	calder 0 run cut.yaml $method -q -i 0.0033 -o cut.csv
	[ "$(end_of cut.csv)" != "$(end_of every.csv)" ] || fail "outputs within steps change nothing: nothing was shown"
	# shellcheck disable=SC2086
	calder 0 run loop.yaml $method -q -i 0.0033 --whole-steps=no -o no.csv
	cmp -s no.csv cut.csv || fail "$method: --whole-steps=no is not as the key"
	# shellcheck disable=SC2086
	calder 0 run loop.yaml $method -q -i 0.05 -o met.csv
	cut -d, -f1 met.csv | awk 'NR > 1 { x = $1 * 20; d = x - int(x + 0.5); if (d > 1e-9 || d < -1e-9) exit 1 }' ||
		fail "$method: outputs at multiples of the sampling period are late"
	[ "$(sed -n 3p cut.csv | cut -d, -f1)" = 0.0033 ] || fail "$method: outputs are not at their times"
	# shellcheck disable=SC2086
	calder 0 run loop.yaml $method -q -i 0.0033 -d 0.7 --checkpoint half.ckpt -o first.csv
	# shellcheck disable=SC2086
	calder 0 run loop.yaml $method -q -i 0.05 --restart half.ckpt -d 1.5 -o second.csv
	[ "$(end_of second.csv)" = "$(end_of every.csv)" ] || fail "$method: other digits after a restart"
done

exit $((failures > 0))
