"""Makes in.nc: two variables on a grid, a record for each day of a month, netCDF-3."""

import netCDF4
import numpy as np

DAYS, ROWS, COLUMNS = 31, 181, 360

with netCDF4.Dataset("in.nc", "w", format="NETCDF3_64BIT_OFFSET") as made:
    made.createDimension("time", None)
    made.createDimension("lat", ROWS)
    made.createDimension("lon", COLUMNS)
    time = made.createVariable("time", "f8", ("time",))
    time.units, time.calendar = "days since 2000-01-01", "standard"
    lat = made.createVariable("lat", "f8", ("lat",))
    lat.units = "degrees_north"
    lat[:] = np.linspace(-90, 90, ROWS)
    lon = made.createVariable("lon", "f8", ("lon",))
    lon.units = "degrees_east"
    lon[:] = np.arange(COLUMNS)
    fields = [made.createVariable(name, "f4", ("time", "lat", "lon")) for name in ("ta", "ua")]
    values = np.random.default_rng(0).random((ROWS, COLUMNS), dtype="f4")
    for day in range(DAYS):
        time[day] = day
        for field in fields:
            field[day] = values + day
