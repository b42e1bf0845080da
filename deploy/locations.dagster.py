# A Dagster asset with a partition for each line of locations.txt, which has one id a line: no worker is needed.
import subprocess
from pathlib import Path
import dagster as dg

locations = dg.StaticPartitionsDefinition(Path("/config/locations.txt").read_text().split())

@dg.asset(partitions_def=locations, retry_policy=dg.RetryPolicy(max_retries=3, delay=300))
def account(context: dg.AssetExecutionContext) -> None:
    command = ["sluice", "sync", "--config", "/config/fleet.toml", "--location", context.partition_key]
    subprocess.run(command, check=True)

@dg.schedule(target=account, cron_schedule="30 2 * * *", execution_timezone="America/New_York")
def nightly():
    return [dg.RunRequest(partition_key=location) for location in locations.get_partition_keys()]

definitions = dg.Definitions(assets=[account], schedules=[nightly])
