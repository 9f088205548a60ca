# SPDX-License-Identifier: BSD-3-Clause
"""Code in which a type checker must refuse exactly the lines with a comment. The comment names what is wrong. This file
is checked, not run."""
import ringside

ringside.publish({"x": ("f46", (3,))})  # dtype
ringside.Variable("f46", (3,))  # dtype
ringside.Variable("f64", (3,), role="filed")  # role
with ringside.publish({"x": ("f64", (3,))}, pool_use="resum") as run:  # pool_use
    run.detach("finsihed")  # outcome
    run.publish(1, [1.0])  # arrays by name
    run.publish(1, {"x": [1.0]}, {"t": "now"})  # a number
    run.step("1")  # iteration
ringside.publish({"x": ("f64", 3)}, on_analyzer_loss="skip")  # loss
ringside.publish({"x": ("f64", 3)}, coordination="lock")  # coordination
ringside.publish({"x": ("f64", 3)}, scalars={"t": "f32"})  # scalar
ringside.publish({"x": ("f64", 3)}, pool=3)  # path
ringside.publish({"x": ("f64", 3)}, run_options=16)  # options
pool = ringside.open("a.pool")
pool.tabel()  # name
pool["x"]  # iteration first
number: int = pool[17]["x"]  # array
with pool[17] as step:
    step.iteration.upper()  # int
for step in pool.follow(timeout="1"):  # seconds
    pass
ringside.open_rings("rings").table()  # of a Pool
